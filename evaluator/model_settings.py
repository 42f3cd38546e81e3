"""How a language model is asked, as the settings of its row: from a command's options, or from an endpoint that whoever runs
the server configured. A page or a request names an endpoint and never brings an address or a key."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Refused, quoted
from evaluator.judges.endpoint import KEY_VARIABLE, Endpoint
from evaluator.judges.language_model import UNJUDGED

VARIABLE = "COMPARENA_ENDPOINTS"
DEFAULTS: dict[str, Any] = {  # what is asked where nobody chose
    "key": KEY_VARIABLE, "calls": None, "money": None, "price": (0.0, 0.0), "free_form": False, "connections": 16, "rate": None,
    "unjudged": UNJUDGED, "reply_tokens": None, "extra_body": None, "prompt": None, "examples": 0, "with_references": False,
}  # fmt: skip
MOST_CONNECTIONS, MOST_TOKENS = 256, 100_000
TAKEN = {"model", "messages"}  # of a request, which no option changes


@dataclass(frozen=True)
class ConfiguredEndpoint:
    """key: the name of the variable that holds it; price: READ and WRITE per million tokens; models: those that may be asked,
    empty for any."""

    name: str
    url: str
    key: str = KEY_VARIABLE
    price: tuple[float, float] = (0.0, 0.0)
    models: tuple[str, ...] = ()

    def options(self, model: str, calls: int, money: float | None = None) -> dict[str, Any]:
        """As a command's options. Raises Refused for a model that is not offered."""
        if self.models and model not in self.models:
            raise Refused(f"Endpoint {quoted(self.name)} has no model {quoted(model)}; it has: {', '.join(self.models)}.")
        chosen = {"language_model": model, "url": self.url, "key": self.key, "price": self.price}
        return DEFAULTS | chosen | {"calls": calls, "money": money, "forecast": False}


def configured() -> dict[str, ConfiguredEndpoint]:
    """By name, from the environment: {"NAME": {"url", "key", "price", "models"}} as JSON. Raises Refused where it is broken."""
    given = os.environ.get(VARIABLE, "")
    try:
        rows = json.loads(given) if given.strip() else {}
        found = {}
        for name, row in rows.items():
            read, write = (float(one) for one in row.get("price", (0.0, 0.0)))
            endpoint = ConfiguredEndpoint(
                name, row["url"], row.get("key", KEY_VARIABLE), (read, write), tuple(row.get("models", ()))
            )
            Endpoint(endpoint.url)
            if row.keys() - {"url", "key", "price", "models"}:
                raise ValueError
            found[name] = endpoint
    except (ValueError, KeyError, TypeError, AttributeError):
        expected = '{"NAME": {"url": "https://…/v1", "key": "VARIABLE", "price": [READ, WRITE], "models": [...]}}'
        raise Refused(f"{VARIABLE} is no JSON of the form {expected}.") from None
    return found


def settings_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a language model, from options by name. Raises Refused."""
    if not given["url"]:
        raise Refused("A language model needs an address: give --url, including /v1.")
    if given["calls"] is None and not given["forecast"]:
        raise Refused("Set the maximum number of requests with --calls; --forecast shows how many are needed.")
    if not re.fullmatch(r"[A-Z][A-Z0-9_]*", given["key"]):
        raise Refused("--key takes the name of an environment variable, in capitals, and never the key itself.")
    if not 1 <= given["connections"] <= MOST_CONNECTIONS:
        raise Refused(f"--connections takes a number from 1 to {MOST_CONNECTIONS}.")
    if given["rate"] is not None and not given["rate"] > 0:
        raise Refused("--rate takes a number above 0.")
    if not 0 <= given["unjudged"] <= 1:
        raise Refused("--unjudged takes a share from 0 to 1.")
    chosen = {
        "model": given["language_model"],
        "url": given["url"],
        "free_form": given["free_form"],
        "key": given["key"],
        "price": list(given["price"]),
        "budget": {"calls": given["calls"], "money": given["money"]},
        "connections": given["connections"],
        "rate": given["rate"],
        "unjudged": given["unjudged"],
    }
    if given["reply_tokens"] is not None:
        if not 1 <= given["reply_tokens"] <= MOST_TOKENS:
            raise Refused(f"--reply-tokens takes a number from 1 to {MOST_TOKENS}.")
        chosen["longest"] = given["reply_tokens"]
    if given["extra_body"] is not None:
        chosen["extra"] = _extra(given["extra_body"])
    return chosen


def _extra(given: str) -> dict[str, Any]:
    try:
        extra = json.loads(given)
    except ValueError:
        extra = None
    if not isinstance(extra, dict) or TAKEN & extra.keys():
        raise Refused(f"--extra-body takes a JSON object without {', '.join(sorted(TAKEN))}.")
    return extra

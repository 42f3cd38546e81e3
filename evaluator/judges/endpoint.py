"""Chat completions over HTTP, as OpenAI's API has them and many servers imitate: asked again after what may pass, within a
budget of calls, and counted."""

import email.utils
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx

from core.errors import Refused

KEY_VARIABLE = "COMPARENA_JUDGE_API_KEY"
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds; each wait is twice the one before
LONGEST_RETRY_AFTER = 600.0  # seconds that a server may ask for; beyond that a person decides
TRIES = 6  # of one question
EXCERPT = 200  # characters of a server's complaint that are passed on

logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells of every request; a run has thousands


class BudgetSpent(Refused):
    """One more call would exceed the budget; it was not made."""


class UnreadableReply(Refused):
    """The server's reply is no chat completion; `body` is what it said."""

    def __init__(self, message: str, body: str):
        super().__init__(message)
        self.body = body


@dataclass(frozen=True)
class Price:
    """Per million tokens, in whatever currency."""

    prompt: float = 0.0
    completion: float = 0.0

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / 1e6


@dataclass
class Usage:
    """What was used so far, by the server's own count."""

    calls: int = 0  # requests that were sent, those that failed too
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0  # replies without a count of tokens

    def add(self, reply: dict[str, Any]) -> None:
        usage = reply.get("usage")
        read, written = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        if read is None or written is None:
            self.uncounted += 1
        else:
            self.prompt_tokens += read
            self.completion_tokens += written


class Meter(Protocol):
    """Counts what is spent where it outlives the process."""

    def spend(self) -> None:
        """Before each request. Raises BudgetSpent."""
        ...

    def add(self, read: int, written: int) -> None:
        """The tokens of a reply, as its server counts them."""
        ...


@dataclass
class Endpoint:
    """url: up to and with /v1. key: from the environment alone; it is in no message. budget: requests that may be sent, None
    for any number. meter: counts beyond this process. wait: how it waits, in seconds."""

    url: str
    key: str = ""
    budget: int | None = None
    timeout: float = 120.0
    wait: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    usage: Usage = field(default_factory=Usage)
    meter: Meter | None = None

    def __post_init__(self) -> None:
        address = _address(self.url)
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        self._client = httpx.Client(base_url=address, headers=headers, timeout=self.timeout)

    def complete(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to a chat completion. Raises Refused where the server refuses the request or goes on failing, BudgetSpent,
        or UnreadableReply."""
        why, asked_to_wait = "", 0.0
        for tried in range(TRIES):
            if tried:
                self.wait(max(min(FIRST_WAIT * 2 ** (tried - 1), LONGEST_WAIT), asked_to_wait))
            asked_to_wait = 0.0
            self._spend()
            try:
                response = self._client.post("chat/completions", json=request)
            except httpx.TimeoutException:
                why = f"it did not answer within {self.timeout:g} seconds"
                continue
            except httpx.RequestError as error:  # no connection, or one that broke in the middle of the reply
                why = self._clean(str(error) or type(error).__name__)
                continue
            if response.status_code == 429 or response.status_code >= 500:
                why = f"it answered with status {response.status_code}"
                asked_to_wait = self._retry_after(response)
                continue
            return self._read(response)
        raise Refused(f"The language model's server failed {TRIES} times in a row; last, {why}.")

    def _spend(self) -> None:
        if self.budget is not None and self.usage.calls >= self.budget:
            raise BudgetSpent(
                f"The budget of {self.budget} calls is spent. What was answered is kept: with a larger one it goes on."
            )
        if self.meter:
            self.meter.spend()
        self.usage.calls += 1

    def _read(self, response: httpx.Response) -> dict[str, Any]:
        body = response.content.decode("utf-8", "replace")
        if response.status_code != 200:
            raise Refused(
                f"The language model's server refused the request with status {response.status_code}: {self._clean(body)}"
            )
        kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != "application/json":
            raise UnreadableReply(f"The language model's server answered with {kind or 'nothing'} instead of JSON.", body)
        try:
            reply = json.loads(body)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict):
            raise UnreadableReply(f"The language model's server answered with broken JSON: {self._clean(body)}", body)
        read, written = self.usage.prompt_tokens, self.usage.completion_tokens
        self.usage.add(reply)
        if self.meter:
            self.meter.add(self.usage.prompt_tokens - read, self.usage.completion_tokens - written)
        return reply

    def _retry_after(self, response: httpx.Response) -> float:
        """Seconds that the server asks to wait, given as a number or as a date (RFC 9110, section 10.2.3). Raises Refused where
        these are too many."""
        given = response.headers.get("retry-after", "").strip()
        try:
            seconds = float(given)
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(given).timestamp() - self.now()
            except (ValueError, TypeError):
                return 0.0
        if not seconds <= LONGEST_RETRY_AFTER:
            raise Refused(
                f"The language model's server asks to wait {seconds:,.0f} seconds. What was answered is kept: go on later."
            )
        return max(seconds, 0.0)

    def _clean(self, text: str) -> str:
        """One short line without the key, which some servers repeat."""
        text = text.replace(self.key, "…") if self.key else text
        return " ".join(text.split())[:EXCERPT]


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _address(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        raise Refused(f"{url!r} is no address of a server.") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Refused(f"{url!r} is no address of a server; expected something like https://api.example.org/v1.")
    if parsed.userinfo:
        raise Refused(f"The key of a language model is read from {KEY_VARIABLE}, not from its address.")
    return f"{str(parsed).rstrip('/')}/"

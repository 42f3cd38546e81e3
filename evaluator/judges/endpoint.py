"""Chat completions over HTTP, as OpenAI's API has them and many servers imitate: one request, what became of it, and what it
took. `queue` sends many at once."""

import email.utils
import json
import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx

from core.errors import Refused
from core.wall_clock import bind, within
from evaluator.judges.profile import names_a_parameter

KEY_VARIABLE = "COMPARENA_JUDGE_API_KEY"
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds; each wait is twice the one before
LONGEST_RETRY_AFTER = 600.0  # seconds that a server may ask for; beyond that a person decides
TRIES = 6  # of one question
SPENT = ("insufficient_quota", "billing_hard_limit", "credit balance")  # 429 that no waiting mends
OF_THESE_TEXTS = (  # what another pair would not meet
    "content_filter", "content management policy", "responsibleai", "content_policy", "context_length", "context length",
    "maximum context", "context window", "context size", "exceed_context", "too many tokens", "prompt is too long",
    "input is too long", "reduce the length",
)  # fmt: skip
MOST_BYTES = 20 * 2**20  # of a response
LONGEST_KEPT = 100_000  # characters of a body that is no chat completion
MOST_TOKENS = 10**9  # that a reply may say it took
EXCERPT = 200  # characters of a server's complaint that are passed on

logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells of every request; a run has thousands


class BudgetSpent(Refused):
    """One more call would exceed the budget; it was not made."""


class UnreadableReply(Refused):
    """The server's reply is no chat completion, or it will not answer this request; `body` is what it said. may_pass: another
    run may be answered."""

    def __init__(self, message: str, body: str, may_pass: bool = False):
        super().__init__(message)
        self.body, self.may_pass = body, may_pass


class Unaccepted(Refused):
    """The server refuses the request as it stands, with status 400 or 422; `body` is what it said."""

    def __init__(self, message: str, body: str):
        super().__init__(message)
        self.body = body


class Again(Exception):
    """What may pass: the same request is to be sent again. seconds: as the server asks, 0 where it asks nothing. is_busy: it
    works, and has too much to do."""

    def __init__(self, why: str, seconds: float = 0.0, is_busy: bool = False):
        super().__init__(why)
        self.seconds, self.is_busy = seconds, is_busy


@dataclass(frozen=True)
class Response:
    status: int
    headers: httpx.Headers
    body: str


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

    def spend(self, longest: int, under_way: int) -> None:
        """Before each request, which may be answered with so many tokens, as may those under way. Raises BudgetSpent."""
        ...

    def add(self, read: int, written: int) -> None:
        """The tokens of a reply, as its server counts them."""
        ...


@dataclass
class Endpoint:
    """url: up to and with /v1. key: from the environment alone; it is in no message. budget: requests that may be sent, None
    for any number. meter: counts beyond this process. connections: requests under way at once. rate: requests a second, None
    for any. headers: sent with each. wait: how it waits, in seconds."""

    url: str
    key: str = ""
    budget: int | None = None
    timeout: float = 120.0
    wait: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    usage: Usage = field(default_factory=Usage)
    meter: Meter | None = None
    connections: int = 1
    rate: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        address = _address(self.url)
        headers = {**self.headers, **({"Authorization": f"Bearer {self.key}"} if self.key else {})}
        limits = httpx.Limits(max_connections=self.connections, max_keepalive_connections=self.connections)
        self._client = httpx.Client(
            base_url=address, headers=headers, timeout=self.timeout, limits=limits, follow_redirects=False
        )
        bind(self._client)

    def spend(self, longest: int = 0, under_way: int = 0) -> None:
        """Count one request before it is sent; longest: tokens of its reply, and of each under way. Raises BudgetSpent."""
        if self.budget is not None and self.usage.calls >= self.budget:
            raise BudgetSpent(
                f"The budget of {self.budget} calls is spent. What was answered is kept: with a larger one it goes on."
            )
        if self.meter:
            self.meter.spend(longest, under_way)
        self.usage.calls += 1

    def send(self, request: Mapping[str, Any]) -> Response:
        """One request over the network, from any thread, within `timeout` in all. Raises Again."""
        body = bytearray()
        try:
            with within(self.timeout), self._client.stream("POST", "chat/completions", json=request) as response:
                if "," in response.headers.get("content-encoding", ""):  # each time a byte may unpack to a thousand
                    raise Again("its answer is packed more than once")
                for part in response.iter_bytes():
                    body += part
                    if len(body) > MOST_BYTES:
                        break
        except (httpx.TimeoutException, TimeoutError):
            raise Again(f"it did not answer within {self.timeout:g} seconds") from None
        except httpx.RequestError as error:  # no connection, or one that broke in the middle of the reply
            raise Again(self._clean(str(error) or type(error).__name__)) from None
        return Response(response.status_code, response.headers, self._hidden(body.decode("utf-8", "replace")))

    def reply(self, response: Response) -> dict[str, Any]:
        """The chat completion in a response, counted. Raises Again for what may pass, Unaccepted for a request that this server
        does not take as it stands, UnreadableReply for one that it will not answer, Refused for what ends the run."""
        status, body, low = response.status, response.body, response.body.lower()
        if status == 200:
            return self._read(response)
        said = f"The language model's server refused the request with status {status}: {self._clean(body)}"
        kept = body[:LONGEST_KEPT]
        if status == 204:
            raise UnreadableReply("The language model's server answered with nothing.", "", may_pass=True)
        if status == 413 or status < 500 and status != 429 and any(word in low for word in OF_THESE_TEXTS):
            raise UnreadableReply(said, kept)
        if status in (400, 422) or status in (403, 500, 501) and names_a_parameter(body):
            raise Unaccepted(said, kept)
        if status == 429 and any(word in low for word in SPENT):
            raise Refused(f"The language model's server says that its quota is spent: {self._clean(body)}")
        if status == 429 or status >= 500:
            raise Again(f"it answered with status {status}", self._retry_after(response), is_busy=status in (429, 503, 529))
        raise Refused(said)

    def _read(self, response: Response) -> dict[str, Any]:
        kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
        body = response.body[:LONGEST_KEPT]
        try:
            reply = storable(json.loads(response.body, parse_constant=lambda name: None, parse_float=_finite))
        except (ValueError, RecursionError):
            if kind not in ("application/json", ""):
                said = f"The language model's server answered with {kind} instead of JSON."
                raise UnreadableReply(said, body, may_pass=True) from None
            reply = None
        if not isinstance(reply, dict):
            said = f"The language model's server answered with broken JSON: {self._clean(body)}"
            raise UnreadableReply(said, body, may_pass=True)
        if "choices" not in reply and isinstance(error := reply.get("error"), dict) and error.get("code") in (429, "429", 503):
            raise Again(f"it answered with an error: {self._clean(str(error.get('message')))}", is_busy=True)
        read, written = self.usage.prompt_tokens, self.usage.completion_tokens
        self.usage.add(reply)
        if self.meter:
            self.meter.add(self.usage.prompt_tokens - read, self.usage.completion_tokens - written)
        return reply

    def _retry_after(self, response: Response) -> float:
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
        if seconds > LONGEST_RETRY_AFTER:
            raise Refused(
                f"The language model's server asks to wait {seconds:,.0f} seconds. What was answered is kept: go on later."
            )
        return seconds if seconds > 0 else 0.0  # neither NaN nor the past

    def _clean(self, text: str) -> str:
        """One short line without the key, which some servers repeat."""
        return " ".join(self._hidden(text).split())[:EXCERPT]

    def _hidden(self, text: str) -> str:
        """Without the key, and without what no database stores."""
        return _clean_text(text.replace(self.key, "…") if self.key else text)


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def storable(value: Any) -> Any:
    """The same without what databases refuse: NUL, halves of surrogate pairs."""
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, list):
        return [storable(one) for one in value]
    if isinstance(value, dict):
        return {_clean_text(name): storable(one) for name, one in value.items()}
    return value


def _clean_text(text: str) -> str:
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _finite(number: str) -> float | None:
    """1e999 is none."""
    value = float(number)
    return value if math.isfinite(value) else None


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

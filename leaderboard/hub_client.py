"""How long, how much and how often the Hub is listened to: `huggingface_hub` by itself waits, reads and asks for ever."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from math import inf
from typing import Any

import httpx2  # huggingface_hub's own
from huggingface_hub import constants, set_client_factory
from huggingface_hub.utils import parse_ratelimit_headers
from huggingface_hub.utils._http import default_client_factory

from core.archives import MAX_UNPACKED_BYTES
from core.errors import Refused
from core.wall_clock import bind, set_end, within

SECONDS = 120  # that an answer may take until its body begins; and its body, with one more for each SLOWEST bytes
SLOWEST = 16 * 2**10  # bytes; as the web server asks of those who send (docs/operate/run.md)
MOST_BYTES = 32 * 2**20  # of an answer that is no file
MOST_REQUESTS = 1000  # of one command; a list of files has a thousand on a page
LONGEST_WAIT = 300  # seconds that the Hub may ask for: it counts requests in windows of five minutes


@contextmanager
def bounded() -> Iterator[None]:
    """Within it, Refused is raised where the server exceeds a bound."""
    sent = count(1)

    def ask(request: httpx2.Request) -> None:
        if next(sent) > MOST_REQUESTS:
            raise Refused(f"The Hub was asked {MOST_REQUESTS:,} times and still does not come to an end.")
        set_end(time.monotonic() + SECONDS)

    def client() -> httpx2.Client:  # made anew after each connection that failed
        made = default_client_factory()
        made.timeout = httpx2.Timeout(SECONDS)
        bind(made)
        made.headers["Accept-Encoding"] = "identity"
        hooks = made.event_hooks
        made.event_hooks = {"request": [*hooks["request"], ask], "response": [*hooks["response"], _watch]}
        return made

    set_client_factory(client)
    plain, constants.HF_HUB_DISABLE_XET = constants.HF_HUB_DISABLE_XET, True  # hf_xet has a client of its own
    try:
        with within(inf):
            yield
    finally:
        constants.HF_HUB_DISABLE_XET = plain
        set_client_factory(default_client_factory)


def _watch(response: httpx2.Response) -> None:
    """Before a byte of its body is read."""
    wait = _asked_to_wait(response.headers)
    if response.status_code >= 400 and wait > LONGEST_WAIT:
        raise Refused(f"The Hub asks to wait {wait:,} seconds. Nothing was changed here: go on later.")
    packed = response.headers.get("content-encoding", "identity").strip().lower()
    if response.request.method != "HEAD" and packed != "identity":  # a few bytes may unpack to any number
        raise Refused("The Hub answers with packed bytes, though it was asked not to; they are not read.")
    is_file = response.is_success and constants.X_HF_DOWNLOAD_COUNTER in response.request.headers
    response.stream = _Watched(response.stream, MAX_UNPACKED_BYTES if is_file else MOST_BYTES)


def _asked_to_wait(headers: Any) -> int:
    """Seconds, as `huggingface_hub` reads them before it sleeps."""
    given, limit = headers.get("retry-after", "").strip(), parse_ratelimit_headers(headers)
    return max(int(given) if given.isdecimal() else 0, limit.reset_in_seconds if limit and limit.remaining == 0 else 0)


class _Watched(httpx2.SyncByteStream):
    """A body that ends where it is too long, or comes too slowly."""

    def __init__(self, stream: Any, most: int):
        self.stream, self.most = stream, most

    def __iter__(self) -> Iterator[bytes]:
        begin, read = time.monotonic(), 0
        set_end(begin + SECONDS)
        try:
            for part in self.stream:
                read += len(part)
                if read > self.most:
                    raise Refused(f"The Hub's answer is longer than {self.most // 2**20} MB, and is not read.")
                set_end(begin + SECONDS + read / SLOWEST)
                yield part
        except (httpx2.TimeoutException, TimeoutError):
            took = time.monotonic() - begin
            raise Refused(f"The Hub sends too slowly: {read:,} bytes in {took:,.0f} seconds.") from None

    def close(self) -> None:
        self.stream.close()

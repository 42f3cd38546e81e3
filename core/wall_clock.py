"""How long work may take, for a worker's process; how long another machine may take to answer in all, since a client's own
time-out bounds its silence, and whoever sends a byte a second is never silent; and how long it took, in words."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

from core.errors import Refused


class _OutOfTime(BaseException):
    """Not an Exception: nothing that expects errors of a damaged file takes it for one."""


@contextmanager
def at_most(seconds: float, sentence: str) -> Iterator[None]:
    """Raises Refused with the sentence where the body takes longer. Only in a process's main thread, where a signal can
    interrupt it; elsewhere there is no limit. It rings again each second: what is raised while Python deletes an object is
    lost."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise _OutOfTime

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    except _OutOfTime:
        raise Refused(sentence) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


_thread = threading.local()


def set_end(end: float) -> None:
    """What this thread asks through a bound client ends then, by time.monotonic()."""
    _thread.end = end


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """The end is so many seconds away; afterwards it is what it was before."""
    before = getattr(_thread, "end", inf)
    set_end(time.monotonic() + seconds)
    try:
        yield
    finally:
        set_end(before)


def bind(client: Any) -> None:
    """No wait of this client, httpx's or httpx2's, for a connection or for bytes, lasts beyond its thread's end: it raises
    TimeoutError, or the client's own error of that name."""
    for transport in (client._transport, *client._mounts.values()):
        if transport is not None:  # no proxy
            transport._pool._network_backend = _Backend(transport._pool._network_backend)


def _left(timeout: float | None) -> float | None:
    seconds = getattr(_thread, "end", inf) - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("It did not end in time.")
    return timeout if seconds == inf else seconds if timeout is None else min(timeout, seconds)


class _Wrapped:
    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)


class _Backend(_Wrapped):
    """Of httpcore: makes connections."""

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **how: Any) -> Any:
        return _Stream(self._wrapped.connect_tcp(host, port, timeout=_left(timeout), **how))


class _Stream(_Wrapped):
    """Of httpcore: a connection."""

    def read(self, max_bytes: int, timeout: float | None = None) -> Any:
        return self._wrapped.read(max_bytes, timeout=_left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._wrapped.write(buffer, timeout=_left(timeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
        return _Stream(self._wrapped.start_tls(ssl_context, server_hostname, timeout=_left(timeout)))


def in_words(seconds: float) -> str:
    """In one unit, and in the singular where it is 1: "under a second", "1 second", "12 seconds", "3 minutes", "1.5 hours".

    Minutes from 90 seconds on, hours from 90 minutes on.
    """
    if seconds < 1:
        return "under a second"
    if seconds < 89.5:
        return _counted(f"{seconds:.0f}", "second")
    if seconds < 89.5 * 60:
        return _counted(f"{seconds / 60:.0f}", "minute")
    return _counted(f"{seconds / 3600:,.1f}".removesuffix(".0"), "hour")


def _counted(number: str, unit: str) -> str:
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"

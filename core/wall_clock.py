"""How long work may take, for a worker's process; and how long it took, in words."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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

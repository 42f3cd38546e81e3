"""A process that ends when the one that started it does, even where that one was killed and could tell nobody."""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

STARTED_BY = "COMPARENA_STARTED_BY"  # in a child's environment: the id of the process that it must not outlive
LOOK_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def signalled_at_death_of(parent: int, number: signal.Signals) -> Callable[[], None]:
    """What a child runs before its program (`Popen(preexec_fn=)`): Linux then signals it when `parent` dies. Elsewhere it
    does nothing; `end_without` does the same there, a moment later."""
    if not sys.platform.startswith("linux"):
        return lambda: None
    prctl = ctypes.CDLL(None, use_errno=True).prctl  # looked up here: little is safe between fork and exec

    def in_child() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:  # it died before that
            os._exit(1)

    return in_child


def end_without(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Watch from a thread until `parent` is this process's parent no more, then send this process the signal."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)
        os.kill(os.getpid(), number)

    threading.Thread(target=watch, daemon=True, name="parent").start()


def end_with_starter(number: signal.Signals = signal.SIGKILL) -> None:
    """`end_without` whoever STARTED_BY names; nothing where it names nobody, or another process than our parent."""
    starter = os.environ.get(STARTED_BY, "")
    if starter == str(os.getppid()):
        end_without(int(starter), number)

"""What becomes of freed memory, which decides much of the speed: glibc gives large blocks back to the system as soon as they
are freed, and then every forward pass has its pages zeroed and mapped anew (up to a fifth of the time, or nothing, as the heap
happens to lie). Elsewhere than on glibc nothing is done."""

import ctypes
from functools import cache
from typing import Any

TRIM, MMAP = -1, -3  # parameters of mallopt(3)
LARGE = 64 << 20  # bytes of a block that is still taken from the heap: the activations of a batch
KEPT = 512 << 20  # bytes at the heap's end that are kept for the next batch


@cache
def keep_freed_memory() -> bool:
    """For this process, from now on; whether it is so."""
    mallopt = _glibc("mallopt")
    return bool(mallopt and mallopt(MMAP, LARGE) and mallopt(TRIM, KEPT))


def give_memory_back() -> None:
    """All that is free, once."""
    if trim := _glibc("malloc_trim"):
        trim(0)


def _glibc(name: str) -> Any:
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # not where there is no library to ask
        return None

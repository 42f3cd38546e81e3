"""How freed memory is treated, which decides much of the speed: glibc gives large blocks back to the system as soon as they are
freed, and every forward pass then has its pages zeroed and mapped anew (a tenth of the time, and more under load)."""

import ctypes
from functools import cache

TRIM, MMAP = -1, -3  # parameters of mallopt(3)
LARGE = 64 << 20  # bytes of a block that is still taken from the heap: the activations of a batch
KEPT = 512 << 20  # bytes at the heap's end that are kept for the next batch


@cache
def keep_freed_memory() -> bool:
    """For this process, from now on; False where the C library has no such setting."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # not glibc
        return False
    return bool(mallopt(MMAP, LARGE) and mallopt(TRIM, KEPT))

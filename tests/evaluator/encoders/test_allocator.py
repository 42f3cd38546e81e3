import resource
import subprocess
import sys

import pytest

from evaluator.encoders.allocator import keep_freed_memory

PAGE = resource.getpagesize()
BLOCK = 20 << 20  # bytes, as the activations of a batch
FORWARD_PASSES = f"""
import resource, torch
from evaluator.encoders.allocator import keep_freed_memory
KEEP
def run(passes):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(passes):
        activations = [torch.ones({BLOCK} // 4) for _ in range(4)]
        del activations
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
run(10)  # glibc learns which blocks are usual
print(run(10))
"""


def faults(first: str) -> int:
    """Pages mapped anew by ten passes of four blocks each, in a process of its own."""
    program = FORWARD_PASSES.replace("KEEP", first)
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def test_freed_blocks_are_used_again():
    if not keep_freed_memory():
        pytest.skip("not glibc")
    assert faults("keep_freed_memory()") < BLOCK // PAGE  # without it up to forty blocks are mapped

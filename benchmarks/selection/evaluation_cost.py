"""What a run's evaluation costs: python -m benchmarks.selection.evaluation_cost

A comparator of the default size, with the installed encoder and made-up references, reads what a checkpoint wrote in new
contexts: 24 words each, of which each output has 15. Words are either common, a token each, or made-up, of many. Weights are
as before training, which changes no time. A joint one is timed on a sample of the pairs that it would be asked about, and
multiplied up. CPU seconds hardly change where other programs run beside; wall seconds count on a quiet machine alone.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from benchmarks.comparator import WORDS, saved
from benchmarks.tables import head, row
from evaluator.comparator import architectures
from evaluator.comparator.settings import Settings
from evaluator.encoders.devices import use_bf16
from evaluator.judges.texts import Text
from evaluator.selection.rules import Rules, asked_of

LETTERS = list("abcdefghijklmnopqrstuvwxyz")
ROUNDS = 3  # of checkpoints after the first; the cheapest counts
SAMPLE = 50  # pairs that a joint one is timed on
LATE = 50  # a checkpoint from which all earlier ones that a pairwise judge is asked about are there


class Writer:
    """Contexts, and what checkpoints write in them."""

    def __init__(self, words: Sequence[str], contexts: int):
        self.words, self.rng = words, np.random.default_rng(0)
        self.contexts = [(self._said(8), self._said(8), self._said(8)) for _ in range(contexts)]

    def checkpoint(self) -> list[Text]:
        return [Text(turns, self._said(15)) for turns in self.contexts]

    def _said(self, length: int) -> str:
        return " ".join(self.rng.choice(self.words, length))


def made_up() -> list[str]:
    rng = np.random.default_rng(1)
    return ["".join(rng.choice(LETTERS, rng.integers(2, 9))) for _ in range(500)]


def seconds(work: Callable[[], object]) -> np.ndarray:
    """(2,) of the clock and of the CPU"""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return np.array([time.perf_counter() - wall, time.process_time() - cpu])


def costs(words: Sequence[str], outputs: int, folders: dict[str, Path]) -> None:
    """A line for each: of the utility comparator the first checkpoint and a later one, of the joint one a later one."""
    writer = Writer(words, outputs)
    utility = architectures.load(folders["utility"])
    utility.one_each = True
    tokens = utility.encoder.pairs(writer.checkpoint()).lengths.mean()
    first = seconds(lambda: utility.utilities(writer.checkpoint()))
    later = np.min([seconds(lambda: utility.utilities(writer.checkpoint())) for _ in range(ROUNDS)], axis=0)
    joint = architectures.load(folders["joint"])
    joint.one_each = True
    sides = [writer.checkpoint()[:SAMPLE] for _ in range(2)]
    pairs = outputs * len(asked_of(LATE, Rules(), best=LATE - 5))
    asked = np.min([seconds(lambda: joint.compare(*sides)) for _ in range(ROUNDS)], axis=0) * pairs / len(sides[0])
    rows = [("utility, first", first), ("utility, later", later), (f"joint, {pairs:,} pairs both ways", asked)]
    for name, (wall, cpu) in rows:
        row(name, f"{tokens:.0f}", f"{wall:.1f}", f"{cpu:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outputs", type=int, default=1000, help="of a checkpoint (default %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="default %(default)s")
    parser.add_argument("--precision", default="auto", help="fp32, bf16 or auto (default %(default)s)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    bf16 = use_bf16(options.precision, torch.device("cpu"))
    print(f"{options.outputs:,} outputs, {'bf16' if bf16 else 'fp32'}, {options.threads} threads\n")
    head("checkpoint", "tokens of a text with its context", "wall seconds", "CPU seconds")
    with TemporaryDirectory() as place:
        folders = {}
        for kind in ("utility", "joint"):
            settings = Settings(architecture=kind, precision=options.precision)
            folders[kind] = saved(Path(place) / kind, settings)
        for words in (WORDS, made_up()):
            costs(words, options.outputs, folders)


if __name__ == "__main__":
    main()

"""What a comparator learns from few scored outputs: 99 of dailydialog_zhao (11 contexts), drawn anew five times, against 720.

    python -m benchmarks.few_scores FOLDER --base FOLDER [--draws 5] [--seed 0]

Both start from a base (`train_base`) that has seen none of the texts. With all outputs, each is scored by the member that did
not see its context; with 99, the others are scored by all members. The figure is Pearson's correlation with people's means, on
the same outputs for both."""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.tune import MAIN, Judged, read
from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples
from evaluator.comparator.settings import Settings
from evaluator.comparator.training.train import fit
from evaluator.metaevaluation.correlation import pearson

CONTEXTS = 11  # of nine outputs each


def trained(judged: Judged, rows: np.ndarray, base: Path, seed: int, folder: Path) -> tuple[np.ndarray, float]:
    """(scores (n,) of all outputs, seconds of training) of a comparator that learnt from the outputs `rows`"""
    place = {int(i): k for k, i in enumerate(rows)}
    pairs = [p for p in judged.pairs if p.a in place and p.b in place and p.criterion == 0]
    pairs = [type(p)(place[p.a], place[p.b], p.target, p.weight, p.source) for p in pairs]
    examples = Examples([judged.texts[i] for i in rows], pairs, scores=judged.scores[rows, :1])
    start = time.monotonic()
    fit(examples, Settings(base=base.name), seed, folder, base_dir=base)
    return load(folder).score(judged.texts), time.monotonic() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    judged, shares = read(chosen.data, MAIN), []
    with tempfile.TemporaryDirectory() as place:
        every = np.arange(len(judged.texts))
        of_all, took = trained(judged, every, chosen.base, chosen.seed, Path(place) / "all")
        print(f"{len(every)} outputs: {pearson(of_all, judged.means):.3f}, {took:.0f} s", flush=True)
        for draw in range(chosen.draws):
            rng = np.random.default_rng([chosen.seed, draw])
            few = np.isin(judged.contexts, rng.permutation(judged.contexts.max() + 1)[:CONTEXTS])  # (n,)
            of_few, took = trained(judged, np.flatnonzero(few), chosen.base, chosen.seed, Path(place) / str(draw))
            here, there = (pearson(scores[~few], judged.means[~few]) for scores in (of_few, of_all))
            shares.append(here / there)
            line = f"draw {draw}: {few.sum()} outputs {here:.3f}, all {there:.3f} on the other {(~few).sum()}"
            print(f"{line}: {here / there:.0%}, {took:.0f} s", flush=True)
    print(f"mean {np.mean(shares):.0%}")


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    main()

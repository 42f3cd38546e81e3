"""A comparator of each architecture, learnt from one public set, and its comparisons as scores in the three ways of Zhou & Xu
(2020, RQ1 and RQ2), with what they cost.

    python -m benchmarks.metrics.comparison_scores FOLDER --out DIR [--set NAME] [--contexts N] [--plays 10000] [--seed 0]
        [--folds 2] [--epochs 1] [--max-length 64]

Learns from the set's people alone, without dialogues, out of fold. N contexts, drawn by the seed, play; all unless said
otherwise. What was trained is kept in DIR, and so is each row, so that a run goes on where it was stopped. The ways meet the
same pairs: one that was read for an earlier way is not read again, so that "seconds" are those of the pairs that are new.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.metrics.judged_sets import SETS, JudgedSet, read
from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples, Exchange
from evaluator.comparator.joint_model import JointComparator
from evaluator.comparator.settings import ARCHITECTURES, Settings
from evaluator.comparator.training.train import fit
from evaluator.judges.protocol import Judge, OnProgress, Preferences, utilities
from evaluator.judges.texts import Text
from evaluator.metaevaluation.comparison_scores import WAYS, Contestants, scored
from evaluator.metaevaluation.correlation_levels import levels

FIGURES = ("sample_pearson", "sample_spearman", "system_pearson", "system_spearman")

AT_ONCE = 200  # pairs between two lines of progress


class Remembered:
    """A judge of pairs that reads none twice."""

    kind: Literal["pairwise"] = "pairwise"

    def __init__(self, judge: JointComparator):
        self.judge = judge
        self.known: dict[tuple[Text, Text], np.ndarray] = {}  # P(A), P(tie), P(B) of a pair

    def compare(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], *, on_progress: OnProgress | None = None
    ) -> Preferences:
        pairs = list(zip(texts_a, texts_b, strict=True))
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.known]
        for start in range(0, len(new), AT_ONCE):
            part = new[start : start + AT_ONCE]
            p = self.judge.compare([a for a, _ in part], [b for _, b in part]).probabilities
            self.known.update(zip(part, p))
            self.known.update(((b, a), its[::-1]) for (a, b), its in zip(part, p))
            print(f"  {start + len(part):,} of {len(new):,} pairs read", flush=True)
        return Preferences.likeliest(np.array([self.known[pair] for pair in pairs]).reshape(-1, 3))


def row(known: JudgedSet, judge: Judge, way: str, rows: np.ndarray, plays: int, seed: int) -> dict:
    """What one way gives on the outputs `rows`; the way "" is the comparator's own score."""
    people, begun = known.people.take(rows), time.process_time()
    texts = [known.texts[i] for i in rows]
    if way:
        found = scored(way, judge, Contestants(texts, people.human, people.systems), seed, plays)
        u, games, read_for_them = found.scores, found.games, found.read
    else:
        u, games, read_for_them = utilities(judge, texts), 0, 0
    seconds = time.process_time() - begun
    figures = levels(u, people.scores, people.contexts, people.systems, seed)
    shown = {name: (f.value, f.low, f.high) for name in FIGURES if (f := figures.get(name))}
    return {"games": games, "read": read_for_them, "seconds": round(seconds, 1), **shown}


def cells(found: dict) -> list[str]:
    correlations = []
    for name in FIGURES:
        value, low, high = found.get(name, (None, None, None))
        interval = "" if low is None else f" [{low:.2f}, {high:.2f}]"
        correlations.append("" if value is None else f"{value:.2f}{interval}")
    return [f"{found['games']:,}", f"{found['read']:,}", f"{found['seconds']:.0f}", *correlations]


def train(known: JudgedSet, settings: Settings, seed: int, folder: Path, dialogues: Sequence[Exchange] = ()) -> None:
    """By the set's first criterion."""
    texts, criteria = [Text(text.context, text.output) for text in known.texts], [known.kind.criteria[0]]
    examples = Examples(texts, known.people.pairs, scores=known.scores[:, :1], criteria=criteria, exchanges=dialogues)
    told, begun = [0.0], time.process_time()

    def tell(done: float, message: str, point: dict | None) -> None:
        if time.monotonic() - told[0] > 30:
            told[0] = time.monotonic()
            print(f"  {settings.architecture}: {done:.0%} {message}", flush=True)

    fit(examples, settings, seed, folder, tell)
    print(f"{settings.architecture}: trained in {time.process_time() - begun:.0f} s of CPU", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--set", choices=sorted(SETS), default="dailydialog_gupta")
    parser.add_argument("--contexts", type=int)
    parser.add_argument("--plays", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--max-length", type=int, default=64)
    o = parser.parse_args()
    known = read(o.folder, o.set)
    contexts = np.random.default_rng(o.seed).permutation(np.unique(known.people.contexts))[: o.contexts]
    rows = np.flatnonzero(np.isin(known.people.contexts, contexts))
    lines = [
        "| comparator, way | games | read | seconds | Pearson | Spearman | systems, Pearson | systems, Spearman |",
        "|---|" * 1 + "---|" * 7,
    ]
    for architecture in ARCHITECTURES:
        settings = Settings(
            architecture=architecture,
            folds=o.folds,
            epochs=o.epochs,
            max_length=o.max_length,
            next_utterance=False,
            references=False,
        )
        folder = o.out / f"{o.set}-{architecture}-{o.folds}-{o.epochs}-{o.max_length}-{o.seed}"
        if not (folder / "comparator.json").exists():
            train(known, settings, o.seed, folder)
        trained = load(folder)
        judge = Remembered(trained) if isinstance(trained, JointComparator) else trained
        for way in ("", *WAYS):
            kept = folder / f"{way.replace(' ', '-') or 'own'}-{o.contexts}-{o.plays}.json"
            if not kept.exists():
                kept.write_text(json.dumps(row(known, judge, way, rows, o.plays, o.seed)), encoding="utf-8")
            found = json.loads(kept.read_text(encoding="utf-8"))
            lines.append("| " + " | ".join([f"{architecture}, {way or 'its own score'}", *cells(found)]) + " |")
            print(lines[-1], flush=True)
    print(f"{len(rows)} outputs of {len(contexts)} contexts of {o.set}", *lines, sep="\n")


if __name__ == "__main__":
    main()

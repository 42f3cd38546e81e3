"""Does weak supervision teach a comparator which of two checkpoints is the later one?

    python -m benchmarks.selection.weak_supervision DIALOGUES [--learned 0] [--held-out 1]

It reads the trainings that `kept_checkpoint` made. One comparator learns from strong supervision alone (what people answered
is better than what a generator wrote), the other one from weak supervision too (a later checkpoint is better), both from the
same texts of some seeds. They judge checkpoints of other seeds, in contexts that neither of them saw. The accuracy is the
share of pairs of one training's checkpoints in which the later output has the higher utility, ties half; its interval
resamples contexts.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.selection.kept_checkpoint import HOW, STORE, chosen, dealt, kept, read
from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision.self_supervision import Origin, strong_pairs, weak_pairs
from evaluator.judges.protocol import differences
from evaluator.judges.texts import Text, context_key

CHECKPOINTS = (1, 4, 9, 14)  # of fifteen
CONTEXTS, HELD_OUT = 40, 50
DRAWS = 2000
SETTINGS = {"folds": 2, "epochs": 2, "max_length": 64, "next_utterance": False, "references": False, "strong": True}

Texts = tuple[list[Text], list[Origin]]


def texts_of(dialogues: list, seeds: Sequence[int], contexts: int, store: Path, human: bool) -> Texts:
    """Outputs of some checkpoints of every training of the seeds, and what people answered."""
    texts, origins = [], []
    for seed in seeds:
        parts = dealt(dialogues, seed)
        answered = chosen(parts, "watched")[:contexts]
        for kind in HOW:
            made = kept(kind, seed, parts, store)
            for i in CHECKPOINTS:
                name, reached = str(made["steps"][i]), made["steps"][i] / made["steps"][-1]
                origins += [Origin(f"{kind} {seed}", checkpoint=name, reached=reached)] * len(answered)
                texts += [Text(one.exchange.context, text) for one, text in zip(answered, made["watched"][i])]
        if human:
            texts += [Text(one.exchange.context, one.references[0]) for one in answered]
            origins += [Origin("people", human=True)] * len(answered)
    return texts, origins


def accuracy(comparator, held_out: Texts, kind: str) -> tuple[float, float, float, int]:
    """(share, its 95% interval, pairs)"""
    texts, origins = held_out
    pairs = [pair for pair in weak_pairs(texts, origins) if origins[pair.a].system.startswith(kind)]
    u = comparator.utilities(texts)
    later = np.array([pair.target[0] > 0.5 for pair in pairs])
    ahead = np.sign(differences(u[[pair.a for pair in pairs]], u[[pair.b for pair in pairs]]))
    right = np.where(later, 1 + ahead, 1 - ahead) / 2  # (p,)
    _, context = np.unique([context_key(texts[pair.a].context) for pair in pairs], return_inverse=True)
    sums, counts = np.bincount(context, right), np.bincount(context)
    drawn = np.random.default_rng(0).integers(len(sums), size=(DRAWS, len(sums)))
    low, high = np.quantile(sums[drawn].sum(1) / counts[drawn].sum(1), [0.025, 0.975])
    return float(right.mean()), float(low), float(high), len(pairs)


def main(args: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.selection.weak_supervision", description=__doc__)
    parser.add_argument("dialogues", type=Path)
    parser.add_argument("--learned", type=int, nargs="+", default=[0], help="seeds (default 0)")
    parser.add_argument("--held-out", type=int, nargs="+", default=[1], help="seeds (default 1)")
    parser.add_argument("--encoder", default="", help="a folder; default: the installed one")
    parser.add_argument("--seed", type=int, default=0, help="of the comparators (default %(default)s)")
    parser.add_argument("--store", type=Path, default=STORE)
    options = parser.parse_args(args)
    from evaluator.comparator.training.train import fit

    dialogues = read(options.dialogues)
    texts, origins = texts_of(dialogues, options.learned, CONTEXTS, options.store, human=True)
    seen = {context_key(text.context) for text in texts}
    rows = zip(*texts_of(dialogues, options.held_out, HELD_OUT, options.store, human=False))
    new = [row for row in rows if context_key(row[0].context) not in seen]
    held_out = [text for text, _ in new], [origin for _, origin in new]
    pairs = strong_pairs(texts, origins), weak_pairs(texts, origins)
    print(f"{len(texts)} texts, {len(pairs[0])} strong and {len(pairs[1])} weak pairs; {len(set(held_out[0]))} held out")
    print("| weak supervision | trainings | pairs | later one preferred | 95% interval |")
    for weak in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            examples = Examples(texts, [*pairs[0], *(pairs[1] if weak else [])], np.full(len(texts), np.nan))
            fit(examples, Settings(encoder=options.encoder, weak=weak, **SETTINGS), options.seed, Path(folder))
            comparator = load(Path(folder))
            comparator.one_each = True
        for kind in HOW:
            share, low, high, count = accuracy(comparator, held_out, kind)
            print(f"| {'on' if weak else 'off'} | {kind} | {count:,} | {share:.3f} | {low:.3f} to {high:.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The classifier with three heads on emnlp17: tables 4 and 5 of "three-head BERT evaluator" in form.

    python -m benchmarks.metrics.three_heads FOLDER [--references FILE] [--seeds 5] [--learn-layers K] [--epochs 2]

Good is a median of 5 or more of 6. Outputs are split 80:10:10 so that neither a meaning representation nor an output's text is
in two parts. Without --references the encoder reads the meaning representation and the output; with it the output and each
human reference, as in the paper. One network with three heads ("shared") is compared with three that have one each
("separate"), by F1 and accuracy on the test part at a threshold of 0.5, and by ANOVA over the seeds. The encoder is frozen, or
its last K layers learn along. Beta, the weight of good ones in the loss, is searched on the validation part of the first
seed with separate frozen networks, from 25% less to 25% more than the share of bad ones (section 4.3).
"""

import argparse
import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.stats import f_oneway
from torch import nn

from benchmarks.studies.judged_sets import JudgedSet, lines, read
from evaluator.comparator.utility_model import pair_features
from evaluator.encoders.hidden_states import batches
from evaluator.encoders.text_encoder import TextEncoder
from evaluator.judges.protocol import Numbers
from evaluator.judges.texts import Text, context_key, fold_of
from evaluator.metrics.aspects import GOOD, Heads, balanced_loss
from evaluator.metrics.networks import Learnt, learnt, tensor

ASPECTS = ("naturalness", "quality", "informativeness")
PARTS = 10  # of which one is for testing and one for validation
GRID = np.arange(-0.25, 0.26, 0.05)  # section 4.3
RATE, BATCH = 5e-5, 16  # of an encoder that learns along; the paper's 3e-4 is for its own


@dataclass(frozen=True)
class Labelled:
    """Outputs beside what they are read with: m readings of n outputs."""

    texts: list[Text]  # (m,)
    owner: Numbers  # (m,) whose reading it is
    good: Numbers  # (n, 3) 1 where good, 0 where not
    part: Numbers  # (n,) 0 test, 1 validation, others training
    contexts: list[str]  # (n,)


def labelled(known: JudgedSet, beside_references: bool, seed: int) -> Labelled:
    columns = [known.kind.criteria.index(aspect) for aspect in ASPECTS]
    good = (known.scores[:, columns] >= GOOD - 1e-9).astype(float)
    contexts = [context_key(text.context) for text in known.texts]
    group = groups(contexts, [text.output for text in known.texts])
    fold = fold_of([str(g) for g in group], PARTS, seed)
    part = np.array([fold[str(g)] for g in group])
    if beside_references:
        readings = [(i, Text((text.output,), r)) for i, text in enumerate(known.texts) for r in text.references]
    else:
        readings = [(i, Text(text.context, text.output)) for i, text in enumerate(known.texts)]
    owner = np.array([i for i, _ in readings])
    return Labelled([text for _, text in readings], owner, good, part, contexts)


def groups(contexts: Sequence[str], outputs: Sequence[str]) -> list[int]:
    """(n,) the first row that a row is bound to, through equal contexts or equal outputs."""
    parent = list(range(len(contexts)))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    seen: dict[tuple[str, str], int] = {}
    for i, names in enumerate(zip(contexts, outputs)):
        for kind, name in zip("co", names):
            a, b = sorted((root(i), root(seen.setdefault((kind, name), i))))
            parent[b] = a
    return [root(i) for i in range(len(contexts))]


def f1_and_accuracy(p: Numbers, good: Numbers) -> tuple[float, float]:
    """Of logits p (n,) at 0, good (n,); F1 of the good ones."""
    said = p > 0
    hits = float((said & (good == 1)).sum())
    return 2 * hits / max(1.0, float(said.sum() + good.sum())), float((said == good).mean())


class Frozen:
    """Networks on what the encoder says; it is asked once."""

    def __init__(self, encoder: TextEncoder, texts: Sequence[Text]):
        self.features = encoder.pairs(texts)  # (m, 3h)

    def predicted(self, data: Labelled, aspects: Sequence[int], beta: Numbers, seed: int) -> Numbers:
        """(n, c) logits of each output, the mean of its readings', after learning these aspects together"""
        rows = np.flatnonzero(data.part[data.owner] > 1)
        mean, spread = self.features[rows].mean(0), self.features[rows].std(0)
        d = tensor((self.features - mean) / np.where(spread > 1e-6, spread, 1.0))
        good, weight = tensor(data.good[:, list(aspects)]), tensor(beta)

        def loss(model: nn.Module, chosen: Numbers, rng: np.random.Generator) -> torch.Tensor:
            return balanced_loss(model(d[rows[chosen]]), good[data.owner[rows[chosen]]], weight)

        contexts = [(data.contexts[i],) for i in data.owner[rows]]
        model = learnt(Learnt(lambda: Heads(d.shape[1], len(aspects)), loss, contexts), seed)
        with torch.inference_mode():
            return by_output(data, np.asarray(model(d).numpy(), dtype=float))


class Learning:
    """The encoder's last layers learn along, for a fixed number of epochs."""

    def __init__(self, encoder: TextEncoder, layers: int, epochs: int):
        self.encoder, self.layers, self.epochs = encoder, layers, epochs

    def predicted(self, data: Labelled, aspects: Sequence[int], beta: Numbers, seed: int) -> Numbers:
        """As `Frozen.predicted`"""
        torch.manual_seed(seed)
        model, encoder = copy.deepcopy(self.encoder.model).train(), self.encoder.encoder
        model.requires_grad_(False)
        for layer in model.encoder.layer[-self.layers :]:
            layer.requires_grad_(True)
        heads = Heads(3 * model.config.hidden_size, len(aspects))
        learning = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW([{"params": learning, "lr": RATE}, {"params": heads.parameters(), "lr": 1e-3}])
        sequences = encoder.pairs(data.texts)
        rows, rng = np.flatnonzero(data.part[data.owner] > 1), np.random.default_rng(seed)
        good, weight = tensor(data.good[:, list(aspects)]), tensor(beta)
        for _ in range(self.epochs):
            for chosen in np.array_split(rng.permutation(rows), -(-len(rows) // BATCH)):
                optimizer.zero_grad()
                logits = heads(pair_features(model, encoder.batch(sequences, chosen)))
                balanced_loss(logits, good[data.owner[chosen]], weight).backward()
                optimizer.step()
        model.eval()
        p = np.empty((len(data.texts), len(aspects)))
        for asked, batch in batches(model, encoder, sequences):
            p[asked] = heads(pair_features(model, batch)).numpy()
        return by_output(data, p)


def by_output(data: Labelled, p: Numbers) -> Numbers:
    """(m, c) -> (n, c) the mean of each output's readings"""
    count = np.bincount(data.owner, minlength=len(data.part))[:, None]
    return np.stack([np.bincount(data.owner, column, len(data.part)) for column in p.T], axis=1) / count


def searched(frozen: Frozen, data: Labelled) -> Numbers:
    """(3,) the beta of each aspect with the best F1 on the validation part"""
    share, validation = 1 - data.good[data.part > 1].mean(0), data.part == 1
    found = []
    for aspect in range(len(ASPECTS)):
        tried = share[aspect] * (1 + GRID)
        p = [frozen.predicted(data, [aspect], np.array([beta]), 0)[validation, 0] for beta in tried]
        f1 = [f1_and_accuracy(logits, data.good[validation, aspect])[0] for logits in p]
        found.append(tried[int(np.argmax(f1))])
    return np.array(found)


def measured(data: Labelled, predict: Frozen | Learning, beta: Numbers, seed: int) -> Numbers:
    """(2, 3, 2): shared and separate; aspects; F1 and accuracy on the test part"""
    every = range(len(ASPECTS))
    shared = predict.predicted(data, every, beta, seed)
    separate = np.concatenate([predict.predicted(data, [k], beta[[k]], seed) for k in every], axis=1)
    test = data.part == 0
    return np.array([[f1_and_accuracy(p[test, k], data.good[test, k]) for k in every] for p in (shared, separate)])


def table(found: Numbers, usual: Numbers) -> str:
    """found (seeds, 2, 3, 2), usual (seeds, 3, 2) of calling all good -> Markdown, in percent with standard deviations"""
    out = ["| aspect | measure | separate | shared | ANOVA p | all good |", "|---|---|---|---|---|---|"]
    said = lambda values: f"{100 * values.mean():.2f} (±{100 * values.std(ddof=1) if len(values) > 1 else 0:.2f})"
    for m, measure in ((1, "accuracy"), (0, "F1")):
        for k, aspect in enumerate(ASPECTS):
            shared, separate = found[:, 0, k, m], found[:, 1, k, m]
            p = f"{f_oneway(shared, separate).pvalue:.3f}" if len(found) > 1 else ""
            out.append(f"| {aspect} | {measure} | {said(separate)} | {said(shared)} | {p} | {said(usual[:, k, m])} |")
    return "\n".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--references", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--learn-layers", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    rows = lines(options.references) if options.references else []
    known = read(options.folder, "emnlp17", {row["context_id"]: row["references"] for row in rows})
    encoder, begun = TextEncoder.load(), time.process_time()
    first = labelled(known, bool(rows), 0)
    frozen = Frozen(encoder, first.texts)
    beta = searched(frozen, first)
    predict = Learning(encoder, options.learn_layers, options.epochs) if options.learn_layers else frozen
    print("good:", ", ".join(f"{a} {share:.1%}" for a, share in zip(ASPECTS, first.good.mean(0))), "beta:", beta.round(4))
    found, usual = [], []
    for seed in range(options.seeds):
        data = labelled(known, bool(rows), seed)
        found.append(measured(data, predict, beta, seed))
        test = data.part == 0
        usual.append([f1_and_accuracy(np.ones(test.sum()), data.good[test, k]) for k in range(len(ASPECTS))])
        sizes = [int((data.part == 0).sum()), int((data.part == 1).sum()), int((data.part > 1).sum())]
        print(f"seed {seed}: test, validation, training {sizes}; {time.process_time() - begun:.0f} s of CPU", flush=True)
    print(table(np.array(found), np.array(usual)))


if __name__ == "__main__":
    main()

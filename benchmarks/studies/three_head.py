"""The evaluator with three heads ("three-head BERT evaluator"): one shared encoder against three separate ones, by accuracy and
F1 (tables 4 and 5), by ANOVA over seeds, and by memory.

Good is a median of 5 or more of 6. Outputs are split 80:10:10 so that neither a meaning representation nor an output's text is
in two parts. The encoder reads the output and each human reference where DATA has emnlp17.references.jsonl (made by
`benchmarks.metrics.emnlp17_references` of commit bd7988cb), else the meaning representation and the output. Beta, the weight of
good ones, is searched in each split on its validation part with separate frozen networks (section 4.3)."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import f_oneway
from torch import nn

from benchmarks.studies.figures import numbers
from benchmarks.studies.judged_sets import JudgedSet, lines, read
from benchmarks.studies.study import Asked, Part, Result, Table, model_digest
from evaluator.encoders.hidden_states import batches, pair_features
from evaluator.encoders.text_encoder import TextEncoder
from evaluator.judges.protocol import Numbers
from evaluator.judges.texts import Text, context_key, fold_of, kin_of
from evaluator.metrics.aspects import GOOD, Heads, balanced_loss, best_beta, f1_of_good
from evaluator.metrics.networks import Learnt, learnt, tensor

PAPER = "Three-head BERT evaluator: naturalness, quality and informativeness"
SET, REFERENCES = "emnlp17", "emnlp17.references.jsonl"
HOW = {"frozen": 1.0, "learning": 7.0}  # the encoder: minutes of a seed
SEEDS = {"tiny": 2, "small": 3, "paper": 5}
EPOCHS = {"tiny": 1, "small": 1, "paper": 5}  # of an encoder that learns along
THEIRS = {  # accuracy, F1 in percent: 3-BERT, shared-BERT
    "naturalness": ((76.19, 77.98), (81.81, 84.63)),
    "quality": ((67.66, 66.01), (73.87, 73.17)),
    "informativeness": ((86.48, 89.04), (91.78, 93.53)),
}
ASPECTS = ("naturalness", "quality", "informativeness")
PARTS = 10  # of which one is for testing and one for validation
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
    columns = [known.kind.criteria.index(aspect) for aspect in aspects_of(known)]
    kept = np.flatnonzero(np.isfinite(known.scores[:, columns]).all(1))  # what was scored by each
    texts, good = [known.texts[i] for i in kept], (known.scores[kept][:, columns] >= GOOD - 1e-9).astype(float)
    contexts = kin_of(texts)
    group = groups(contexts, [text.output for text in texts])
    if len(set(group)) < PARTS:
        raise SystemExit(f"{known.name} has {len(set(group))} contexts that share no output; it takes {PARTS} to split them.")
    fold = fold_of([str(g) for g in group], PARTS, seed)
    part = np.array([fold[str(g)] for g in group])
    if beside_references:
        readings = [(i, Text((text.output,), r)) for i, text in enumerate(texts) for r in text.references]
    else:
        readings = [(i, Text(text.context, text.output)) for i, text in enumerate(texts)]
    owner = np.array([i for i, _ in readings])
    return Labelled([text for _, text in readings], owner, good, part, contexts)


def aspects_of(known: JudgedSet) -> tuple[str, ...]:
    """A campaign's are its criteria."""
    return ASPECTS if known.name == SET else known.kind.criteria


def groups(contexts: Sequence[str], outputs: Sequence[str]) -> list[int]:
    """(n,) the first row that a row is bound to, through equal contexts or equal outputs."""
    rows, (context, output) = np.arange(len(contexts)), (np.unique(x, return_inverse=True)[1] for x in (contexts, outputs))
    first = [np.unique(number, return_index=True)[1][number] for number in (context, output)]  # row with the same text
    bound = coo_array((np.ones(2 * len(rows)), (np.tile(rows, 2), np.concatenate(first))), shape=(len(rows), len(rows)))
    _, group = connected_components(bound, directed=False)
    return np.unique(group, return_index=True)[1][group].tolist()


def f1_and_accuracy(p: Numbers, good: Numbers) -> tuple[float, float]:
    """Of logits p (n,) at 0, good (n,); F1 of the good ones."""
    return f1_of_good(p, good), float(((p > 0) == (good == 1)).mean())


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

        kin = [context_key((data.contexts[i],)) for i in data.owner[rows]]
        model = learnt(Learnt(lambda: Heads(d.shape[1], len(aspects)), loss, kin), seed)
        with torch.inference_mode():
            return by_output(data, np.asarray(model(d).numpy(), dtype=float))


class Learning:
    """The encoder learns along, for a fixed number of epochs."""

    def __init__(self, encoder: TextEncoder, epochs: int):
        self.encoder, self.epochs = encoder, epochs

    def predicted(self, data: Labelled, aspects: Sequence[int], beta: Numbers, seed: int) -> Numbers:
        """As `Frozen.predicted`"""
        torch.manual_seed(seed)
        model, encoder = copy.deepcopy(self.encoder.model).train(), self.encoder.encoder
        heads = Heads(3 * model.config.hidden_size, len(aspects))
        optimizer = torch.optim.AdamW([{"params": model.parameters(), "lr": RATE}, {"params": heads.parameters(), "lr": 1e-3}])
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
        with torch.inference_mode():
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

    def f1(aspect: int, beta: float) -> float:
        p = frozen.predicted(data, [aspect], np.array([beta]), 0)[validation, 0]
        return f1_of_good(p, data.good[validation, aspect])

    return np.array([best_beta(partial(f1, aspect), share[aspect]) for aspect in range(len(share))])


def unavailable(asked: Asked) -> list[tuple[str, str]]:
    if asked.sets:
        return []
    missing = [
        ("BERT-base", "No package has its weights; --encoder names yours."),
        ("11,122 rows", "The set here has 2,460 outputs with one median each."),
    ]
    if not (asked.data / REFERENCES).exists():
        missing.append(("The human references", f"The release has none; {REFERENCES} in DATA brings them."))
    return missing


def parts(asked: Asked) -> list[Part]:
    tiny = asked.preset == "tiny"
    files = [REFERENCES] if (asked.data / REFERENCES).exists() and not asked.sets else []
    given = {
        "data": asked.of_sets(*(asked.sets or [SET])) + asked.digest(*files),
        "encoder": [*map(model_digest, asked.encoder)],
        "tiny": tiny,
    }
    seeds = range(asked.seed, asked.seed + SEEDS[asked.preset])
    return [
        Part(
            f"{how}-{seed}",
            0.05 if tiny else minutes * EPOCHS[asked.preset],
            partial(_measured, asked, how, seed),
            {**given, "how": how, "seed": seed, "epochs": EPOCHS[asked.preset]},
        )
        for how, minutes in HOW.items()
        for seed in seeds
    ]


def _measured(asked: Asked, how: str, seed: int, found: Mapping[str, Result], place: Path) -> Result:
    """{shared, separate: (F1, accuracy) of each aspect on the test part, usual: of calling all good, memory: weights, ...}"""
    rows = lines(asked.data / REFERENCES) if (asked.data / REFERENCES).exists() and not asked.sets else []
    references = {row["context_id"]: row["references"] for row in rows}
    known = read(asked.data, *(asked.sets or [SET]), references, contexts=40 if asked.preset == "tiny" else None)
    there = bool(rows) or (bool(asked.sets) and all(text.references for text in known.texts))
    encoder, data = TextEncoder.load(asked.encoder[0] if asked.encoder else ""), labelled(known, there, seed)
    frozen = Frozen(encoder, data.texts)
    beta, test, every = searched(frozen, data), data.part == 0, range(data.good.shape[1])
    predict = frozen if how == "frozen" else Learning(encoder, EPOCHS[asked.preset])
    shared = predict.predicted(data, every, beta, seed)
    separate = np.concatenate([predict.predicted(data, [k], beta[[k]], seed) for k in every], axis=1)
    figures = lambda p: [f1_and_accuracy(p[test, k], data.good[test, k]) for k in every]
    weights = sum(p.numel() for p in encoder.model.parameters())
    heads = [sum(p.numel() for p in Heads(3 * encoder.model.config.hidden_size, n).parameters()) for n in (len(every), 1)]
    return {
        "how": how,
        "encoder": encoder.name,
        "beside": "each human reference" if there else "its context" if asked.sets else "its meaning representation",
        "sizes": [int(test.sum()), int((data.part == 1).sum()), int((data.part > 1).sum())],
        "beta": beta.tolist(),
        "shared": figures(shared),
        "separate": figures(separate),
        "usual": figures(np.ones_like(shared)),
        "memory": {"shared": weights + heads[0], "separate": len(every) * (weights + heads[1])},
        "aspects": aspects_of(known),
    }


def tables(results: Mapping[str, Result]) -> list[Table]:
    found = []
    for how in HOW:
        if mine := [r for r in results.values() if r["how"] == how]:
            found += [_table(mine, how, m, measure) for m, measure in ((1, "Table 4: accuracy"), (0, "Table 5: F1"))]
    if rows := list(results.values()):
        memory = rows[0]["memory"]
        times = memory["separate"] / memory["shared"]
        cells = [[name, f"{count:,}", f"{4 * count / 2**20:,.0f}"] for name, count in memory.items()]
        about = f"{rows[0]['encoder']} with heads. Separate ones need {times:.2f} times as much."
        found.append(Table("Memory", about, ["encoder", "weights", "MiB in fp32"], cells))
    return found


def _table(results: Sequence[Result], how: str, m: int, measure: str) -> Table:
    """In percent with standard deviations over seeds; m: which of F1 and accuracy."""
    of = {name: 100 * np.array([r[name] for r in results])[:, :, m] for name in ("separate", "shared", "usual")}  # (seeds, 3)
    said = lambda values: f"{values.mean():.2f} (±{values.std(ddof=1) if len(values) > 1 else 0:.2f})"
    rows = []
    for k, aspect in enumerate(results[0].get("aspects", ASPECTS)):
        p = f"{f_oneway(of['separate'][:, k], of['shared'][:, k]).pvalue:.3f}" if len(results) > 1 else ""
        theirs = numbers(THEIRS[aspect][1 - m] if aspect in THEIRS else None, digits=2)
        rows.append([aspect, said(of["separate"][:, k]), said(of["shared"][:, k]), p, said(of["usual"][:, k]), *theirs])
    beta = np.mean([r["beta"] for r in results], axis=0)
    about = f"{results[0]['sizes'][0]} outputs of the test part, {len(results)} seeds, each output read beside"
    about += f" {results[0]['beside']}; mean beta {', '.join(f'{b:.3f}' for b in beta)}."
    header = ["aspect", "separate", "shared", "ANOVA p", "all called good", "separate (paper)", "shared (paper)"]
    return Table(f"{measure}, encoder {how}", about, header, rows)

"""The training data of a comparator as arrays: split by context, tokenised, dealt into batches."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from evaluator.comparator import checkpoint
from evaluator.comparator.encoding import Encoder, Sequences
from evaluator.comparator.examples import BY_PEOPLE, Pair, Text, context_key, fold_of, softened
from evaluator.comparator.inference import Tick, beside_pairs
from evaluator.comparator.length_bias import log_words
from evaluator.comparator.references import hidden_from
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision import curriculum
from evaluator.comparator.supervision.unlabelled import Exchange
from evaluator.comparator.training import out_of_fold
from evaluator.comparator.utility_model import use_bf16

FAMILIAR_SHARE = 0.75  # of the contexts learnt from are no longer than what counts as familiar. Our choice.
JUDGING = ("length_counts",)  # settings that no member's weights depend on
BESIDE = 10**6  # no fold: learnt from by all members and measured by none


@dataclass(frozen=True)
class Data:
    """Everything that a member's training reads."""

    a: np.ndarray  # (p,)
    b: np.ndarray  # (p,)
    targets: np.ndarray  # (p, 3) what people said
    learnt: np.ndarray  # (p, 3) what is learnt of it
    weights: np.ndarray  # (p,) how many said it
    choices: np.ndarray  # (p,) "A" | "tie" | "B"
    margins: np.ndarray  # (p,) 1 but for weak supervision
    by_people: np.ndarray  # (p,) True where people compared or scored the two
    criterion: np.ndarray  # (p,) which of the criteria each pair speaks of
    scores: np.ndarray  # (n, c) by each criterion 0..1, NaN where unknown
    contexts: np.ndarray  # (n,) context number
    folds: np.ndarray  # (n,) -1 where the context has neither pair nor score, BESIDE where all members learn from it
    log_words: np.ndarray  # (n,) of the outputs
    encoder: Encoder
    sequences: Sequences
    cosines: torch.Tensor  # (n,)
    likeness: np.ndarray  # (n,) to references
    bf16: bool
    texts: Sequence[Text]  # (n,)

    @property
    def criteria(self) -> int:
        return self.scores.shape[1]


def matrix(scores: Sequence[float] | np.ndarray | None, texts: int, criteria: int) -> np.ndarray:
    """Mean scores (texts,) or (texts, criteria) -> (texts, criteria), NaN where unknown."""
    if scores is None:
        return np.full((texts, criteria), np.nan)
    scores = np.atleast_2d(np.asarray(scores, dtype=float).T).T
    if scores.shape[1] != criteria:
        raise ValueError(f"There are scores by {scores.shape[1]} criteria for {criteria} names.")
    return scores


def split(
    texts: Sequence[Text], pairs: Sequence[Pair], scores: np.ndarray, measured: np.ndarray, folds: int, seed: int
) -> tuple[list[str], dict[str, int]]:
    """The key of each text's context, and the fold of each context that has a pair or a score (n, c) and a text that is
    measured (n,); BESIDE for the others with a pair or a score."""
    if not pairs:
        raise ValueError("There is no pair of outputs to learn from.")
    if len(scores) != len(texts):
        raise ValueError(f"There are {len(scores)} scores for {len(texts)} texts.")
    keys = [context_key(text.context) for text in texts]
    for pair in pairs:
        if keys[pair.a] != keys[pair.b]:
            raise ValueError(f"Texts {pair.a} and {pair.b} are compared but do not share a context.")
    used = {keys[pair.a] for pair in pairs}
    used |= {key for key, given in zip(keys, scores, strict=True) if not np.isnan(given).all()}
    shown = {key for key, here in zip(keys, measured, strict=True) if here}
    if missing := set(range(scores.shape[1])) - {pair.criterion for pair in pairs if keys[pair.a] in shown}:
        which = f" by criterion {min(missing) + 1} of {scores.shape[1]}" if scores.shape[1] > 1 else ""
        raise ValueError(f"There is no pair of outputs on which the comparator could be measured{which}.")
    return keys, {**dict.fromkeys(used, BESIDE), **fold_of(used & shown, folds, seed)}


def prepare(
    texts: Sequence[Text],
    pairs: Sequence[Pair],
    scores: np.ndarray,
    keys: Sequence[str],
    folds: dict[str, int],
    settings: Settings,
    directory: Path,
    base: dict | None,
    shown: Sequence[Exchange],
    seed: int,
    tick: Tick,
) -> Data:
    """Tokens, and what stands beside the encoded pair, by the files in `directory` that `base`, the record of a base, names;
    shown: the exchanges that it learnt from; keys and folds as from `split`."""
    encoder = Encoder(checkpoint.load_tokenizer(directory), settings.max_length, settings.max_words)
    sequences = encoder.pairs(texts)
    encoder.familiar = float(np.quantile(sequences.whole_contexts, FAMILIAR_SHARE))
    bf16 = use_bf16(settings.precision)
    cosines, likeness = torch.zeros(len(texts)), np.zeros(len(texts))  # (n,), (n,)
    if settings.architecture == "utility":
        matcher = checkpoint.load_matcher(directory, base["matcher"] if base else None)
        references = checkpoint.load_references(directory, base["references"] if base else None)
        hidden = hidden_from(texts, shown, seed) if references else ()
        cosines, likeness = beside_pairs(matcher, references, encoder, texts, bf16, tick=tick, hidden=hidden)
    a, b, targets, weights = out_of_fold.as_arrays(pairs)
    choices = np.array([pair.choice for pair in pairs])
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    contexts = np.array([number[key] for key in keys])
    fold = np.array([folds.get(key, -1) for key in keys])
    margins = np.array([pair.margin for pair in pairs])
    criterion = np.array([pair.criterion for pair in pairs])
    differences = scores[a, criterion] - scores[b, criterion]  # (p,)
    scored = np.array([pair.source == "scores" for pair in pairs]) & ~np.isnan(differences)
    learnt = targets.copy()
    learnt[scored] = softened(targets[scored], differences[scored])
    by_people = np.array([pair.source in BY_PEOPLE for pair in pairs])
    return Data(
        a=a,
        b=b,
        targets=targets,
        learnt=learnt,
        weights=weights,
        choices=choices,
        margins=margins,
        by_people=by_people,
        criterion=criterion,
        scores=scores,
        contexts=contexts,
        folds=fold,
        log_words=log_words(texts),
        encoder=encoder,
        sequences=sequences,
        cosines=cosines,
        likeness=likeness,
        bf16=bf16,
        texts=texts,
    )


def fingerprint_of(
    texts: Sequence[Text],
    pairs: Sequence[Pair],
    scores: np.ndarray,
    measured: np.ndarray,
    settings: Settings,
    seed: int,
    encoder_sha256: str,
) -> str:
    """SHA-256 of everything that a member's weights depend on; the encoder counts by its weights, not its path."""
    recipe = {name: value for name, value in asdict(settings).items() if name not in JUDGING}
    recipe |= {"encoder": encoder_sha256, "seed": seed, "format": checkpoint.FORMAT}
    data = [[asdict(text) for text in texts], [asdict(pair) for pair in pairs], [repr(float(s)) for s in scores.flat]]
    data.append(measured.tolist())
    return _digest([recipe, data])


def with_judging(fingerprint: str, settings: Settings) -> str:
    """SHA-256 of everything that a version depends on: its members' fingerprint and the settings that are no part of it."""
    return _digest([fingerprint, {name: getattr(settings, name) for name in JUDGING}])


def _digest(what: list) -> str:
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def measured(data: Data, criterion: int = 0) -> np.ndarray:
    """(p',) the pairs that a criterion is measured on: people's, or all of its pairs where there are none of those."""
    mine = (data.criterion == criterion) & (data.folds[data.a] != BESIDE)  # (p,)
    by_people = mine & data.by_people  # (p,)
    return (by_people if by_people.any() else mine).nonzero()[0]


def trained_pairs(data: Data, rows: np.ndarray, progress: float) -> np.ndarray:
    """(q,) the pairs among the texts `rows` that the curriculum shows by now."""
    here = np.zeros(len(data.folds), dtype=bool)  # (n,)
    here[rows] = True
    shown = data.by_people | (data.margins >= curriculum.weak_margin(progress))  # (p,)
    return (here[data.a] & here[data.b] & shown).nonzero()[0]


def batches(data: Data, fold: int, size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The texts of the other folds, whole contexts together, about `size` texts of similar length at a time."""
    lengths = data.sequences.lengths
    texts = ((data.folds != fold) & (data.folds >= 0)).nonzero()[0]
    groups = [rng.permutation(texts[data.contexts[texts] == c]) for c in np.unique(data.contexts[texts])]
    groups = [group[i : i + size] for group in groups for i in range(0, len(group), size)]
    noise = rng.uniform(0.8, 1.25, size=len(groups))  # so that an epoch's batches are not the last one's
    order = np.argsort([lengths[group].max() * n for group, n in zip(groups, noise, strict=True)])
    made, current = [], np.empty(0, dtype=int)
    for group in (groups[i] for i in order):
        if len(current) and len(current) + len(group) > size:
            made.append(current)
            current = group[:0]
        current = np.concatenate([current, group])
    made.append(current)
    return [made[i] for i in rng.permutation(len(made))]


def parts(data: Data, rows: np.ndarray, limit: int) -> list[np.ndarray]:
    """The texts `rows` (b,) in parts of at most `limit` tokens, padding included; a context's texts stay together unless
    they alone are too many. One text is a part, however long."""
    made, current = [], np.empty(0, dtype=int)
    contexts = data.contexts[rows]
    for context in dict.fromkeys(contexts):
        group = rows[contexts == context]
        if len(current) and _tokens(data, np.concatenate([current, group])) > limit:
            made.append(current)
            current = current[:0]
        for row in group if _tokens(data, group) > limit else [group]:
            joined = np.append(current, row)
            if len(current) and _tokens(data, joined) > limit:
                made.append(current)
                joined = np.atleast_1d(row)
            current = joined
    return [*made, current]


def _tokens(data: Data, rows: np.ndarray) -> int:
    return int(data.sequences.lengths[rows].max()) * len(rows)

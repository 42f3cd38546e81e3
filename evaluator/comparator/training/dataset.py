"""The training data of a comparator as arrays: split by context or group, tokenised, dealt into batches."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evaluator.comparator import storage
from evaluator.comparator.examples import Examples, softened
from evaluator.comparator.references import beside_pairs
from evaluator.comparator.settings import ARCHITECTURES, Settings
from evaluator.comparator.supervision import curriculum
from evaluator.comparator.supervision.self_supervision import Conversations
from evaluator.comparator.utility_model import UtilityModel
from evaluator.encoders import pretrained
from evaluator.encoders.encoding import Encoder, Sequences
from evaluator.encoders.hidden_states import Tick
from evaluator.judges.texts import (
    BESIDE,
    Text,
    common_words,
    context_key,
    fold_of,
    folds_by_key,
    keys_of,
    kin_of,
    place_of,
    unit_of,
)
from evaluator.metaevaluation.pairs import BY_PEOPLE, JudgedPair, as_arrays

FAMILIAR_SHARE = 0.75  # of the contexts learnt from are no longer than what counts as familiar. Our choice.
MIXED, UNJUDGED, JUDGED = "mixed", "unjudged", "judged"  # what a stage of training learns from: all, or one of the two


@dataclass(frozen=True)
class Data:
    """Everything that a member's training reads, and what it is measured on: frozen arrays."""

    texts: Sequence[Text]  # (n,)
    pairs: Sequence[JudgedPair]  # (p,)
    a: np.ndarray  # (p,)
    b: np.ndarray  # (p,)
    learnt: np.ndarray  # (p, 3) what is learnt of people's shares
    margins: np.ndarray  # (p,) 1 but for weak supervision
    by_people: np.ndarray  # (p,) True where people compared or scored the two
    criterion: np.ndarray  # (p,) which of the criteria each pair speaks of
    scores: np.ndarray  # (n, c) by each criterion 0..1, NaN where unknown
    contexts: np.ndarray  # (n,) context number
    units: np.ndarray  # (n,) number of what intervals draw: the context, or its group
    folds: np.ndarray  # (n,) -1 where the context has neither pair nor score, BESIDE where all members learn from it
    common: np.ndarray  # (n,) True where nobody learns from it, since its words are in several folds
    encoder: Encoder
    sequences: Sequences
    cosines: torch.Tensor  # (n,)
    likeness: np.ndarray  # (n,) to references

    def taught_without(self, fold: int) -> np.ndarray:
        """(n,) what the member without this fold may learn from"""
        return np.asarray((self.folds != fold) & (self.folds >= 0) & ~self.common)

    @property
    def criteria(self) -> int:
        return int(self.scores.shape[1])


@dataclass(frozen=True)
class Run:
    """What all members of one training share."""

    data: Data
    settings: Settings
    seed: int
    directory: Path
    fingerprint: str  # of everything that the members' weights depend on
    base: dict[str, Any]  # the record of the base that they start from; empty where they start from the encoder

    def start(self, criteria: int = 1) -> UtilityModel:
        """What a member starts from."""
        if self.base:
            return storage.load_base(self.directory, criteria)
        return UtilityModel(pretrained.load_encoder(self.directory), criteria)


def checked(examples: Examples, settings: Settings) -> Examples:
    """The examples that the settings learn from, with scores as (n, c) and `beside` as (n,). Raises ValueError with one
    sentence where they cannot be learnt from."""
    if settings.architecture not in ARCHITECTURES:
        raise ValueError(f"The architecture is {' or '.join(ARCHITECTURES)}, not {settings.architecture!r}.")
    n, c = len(examples.texts), len(examples.criteria)
    if settings.architecture == "joint" and c > 1:
        raise ValueError(f"A joint comparator learns one criterion, not {c}.")
    scores = np.full((n, c), np.nan)  # (n, c)
    if examples.scores is not None and settings.human_scores:
        scores = np.atleast_2d(np.asarray(examples.scores, dtype=float).T).T
    if scores.shape[1] != c:
        raise ValueError(f"There are scores by {scores.shape[1]} criteria for {c} names.")
    if len(scores) != n:
        raise ValueError(f"There are {len(scores)} scores for {n} texts.")
    pairs = [pair for pair in examples.pairs if settings.learns_from(pair.source)]
    if not pairs:
        without = "" if settings.human else " without judgments: no human-written text, checkpoints or dialogues are known"
        raise ValueError(f"There is no pair of outputs to learn from{without}.")
    beside = np.zeros(n, dtype=bool) if examples.beside is None else np.asarray(examples.beside, dtype=bool)  # (n,)
    return replace(examples, pairs=pairs, scores=scores, beside=beside)


def split(examples: Examples, folds: int, seed: int) -> dict[str, int]:
    """The folds of contexts and groups (by their keys) that have a pair or a score and a text that is measured; BESIDE for the
    others with a pair or a score. A group is in one fold, and so are equal contexts (`kin_of`)."""
    keys = [context_key(text.context) for text in examples.texts]
    for pair in examples.pairs:
        if place_of(examples.texts[pair.a]) != place_of(examples.texts[pair.b]):
            raise ValueError(f"Texts {pair.a} and {pair.b} are compared but do not share a context.")
    used = _used(examples, keys)
    measured = {key for key, beside in zip(keys, examples.beside, strict=True) if not beside}
    criteria = range(len(examples.criteria))
    if missing := set(criteria) - {pair.criterion for pair in examples.pairs if keys[pair.a] in measured}:
        which = f" by criterion {min(missing) + 1} of {len(criteria)}" if len(criteria) > 1 else ""
        raise ValueError(f"There is no pair of outputs on which the comparator could be measured{which}.")
    rows = [i for i, key in enumerate(keys) if key in used]
    texts = [examples.texts[i] for i in rows]
    kin = kin_of(texts)
    what = "groups of contexts" if len(set(kin)) < len(used) else "different contexts"
    dealt = fold_of([own for i, own in zip(rows, kin) if keys[i] in measured], folds, seed, what)
    return folds_by_key(texts, [dealt.get(own, BESIDE) for own in kin])


def _used(examples: Examples, keys: Sequence[str]) -> set[str]:
    """Of the keys (n,) of the texts' contexts, those of which a text has a pair or a score."""
    scored = {key for key, scores in zip(keys, examples.scores, strict=True) if not np.isnan(scores).all()}
    return scored | {keys[pair.a] for pair in examples.pairs}


def prepare(
    examples: Examples,
    folds: dict[str, int],
    settings: Settings,
    directory: Path,
    base: dict[str, Any],
    learnt_from: Conversations,
    tick: Tick,
) -> Data:
    """Tokens, and what stands beside the encoded pair, by the files in `directory` that `base`, the record of a base, names;
    learnt_from: those that it learnt from; folds as from `split`."""
    texts, pairs, scores = examples.texts, examples.pairs, examples.scores
    tokenizer = pretrained.load_tokenizer(directory)
    encoder = Encoder(tokenizer, settings.max_length, settings.max_words, precision=settings.precision)
    sequences = encoder.pairs(texts)
    encoder.familiar = float(np.quantile(sequences.whole_contexts, FAMILIAR_SHARE))
    cosines, likeness = torch.zeros(len(texts)), np.zeros(len(texts))  # (n,), (n,)
    if settings.architecture == "utility":
        matcher = storage.load_matcher(directory, base.get("matcher"))
        references = storage.load_references(directory, base.get("references"))
        hidden = learnt_from.hidden_from(text.context for text in texts) if references else ()
        cosines, likeness = beside_pairs(matcher, references, encoder, texts, tick, hidden)
    keys = [context_key(text.context) for text in texts]
    used = _used(examples, keys)
    of_texts = [folds[keys_of(text)[0]] if key in used else -1 for key, text in zip(keys, texts)]
    contexts = _numbered([place_of(text) for text in texts])
    a, b, learnt, _ = as_arrays(pairs)
    criterion = np.array([pair.criterion for pair in pairs])  # (p,)
    differences = scores[a, criterion] - scores[b, criterion]  # (p,)
    scored = np.array([pair.source == "scores" for pair in pairs]) & ~np.isnan(differences)  # (p,)
    learnt[scored] = softened(learnt[scored], differences[scored])
    return Data(
        texts=texts,
        pairs=pairs,
        a=a,
        b=b,
        learnt=learnt,
        margins=np.array([pair.margin for pair in pairs]),
        by_people=np.array([pair.source in BY_PEOPLE for pair in pairs]),
        criterion=criterion,
        scores=scores,
        contexts=np.array(contexts),
        units=np.array(_numbered([unit_of(text) for text in texts])),
        folds=np.array(of_texts),
        common=np.array(common_words(texts, of_texts)),
        encoder=encoder,
        sequences=sequences,
        cosines=cosines,
        likeness=likeness,
    )


def fingerprint_of(examples: Examples, settings: Settings, seed: int, encoder_sha256: str) -> str:
    """SHA-256 of everything that a member's weights depend on; the encoder counts by its weights, not its path."""
    recipe = asdict(settings) | {"encoder": encoder_sha256, "seed": seed, "format": storage.FORMAT}
    pairs = [{name: value for name, value in vars(pair).items() if name != "said"} for pair in examples.pairs]
    rows: list[Any] = [[{"context": row.context, "output": row.output} for row in examples.texts], pairs]
    rows += [[repr(float(score)) for score in examples.scores.flat], examples.beside.tolist()]
    by_place = _numbered([place_of(text) for text in examples.texts])
    by_text = _numbered([context_key(text.context) for text in examples.texts])
    rows += [by_place] if by_place != by_text else []  # not the ids, which differ between databases
    rows += [_numbered([unit_of(text) for text in examples.texts])] if any(text.group for text in examples.texts) else []
    return storage.digest([recipe, rows])


def _numbered(names: Sequence[str]) -> list[int]:
    number: dict[str, int] = {}
    return [number.setdefault(name, len(number)) for name in names]


def measured(data: Data, criterion: int = 0) -> np.ndarray:
    """(p',) the pairs that a criterion is measured on: people's, or all of its pairs where there are none of those."""
    mine = (data.criterion == criterion) & (data.folds[data.a] != BESIDE)  # (p,)
    by_people = mine & data.by_people  # (p,)
    return np.flatnonzero(by_people if by_people.any() else mine)


@dataclass(frozen=True)
class Step:
    """What one step of a member's training shows."""

    rows: np.ndarray  # (b,) texts; of a joint comparator, pairs
    stage: str
    progress: float  # share of the stage's steps before this one


@dataclass(frozen=True)
class TrainingPlan:
    """All steps of a member's training, in order."""

    steps: list[Step]
    stages: list[int]  # how many steps each stage has
    epochs: list[int]  # how many steps are done at the end of each epoch


def plan(data: Data, settings: Settings, dealt: Callable[[str], list[np.ndarray]]) -> TrainingPlan:
    """All epochs of each stage; dealt: what the steps of one epoch of a stage show."""
    made = TrainingPlan([], [], [])
    for stage in stages(data, settings):
        shown: list[np.ndarray] = []
        for _ in range(settings.epochs):
            shown += dealt(stage)
            made.epochs.append(len(made.steps) + len(shown))
        made.steps.extend(Step(rows, stage, i / len(shown)) for i, rows in enumerate(shown))
        made.stages.append(len(shown))
    return made


def stages(data: Data, settings: Settings) -> list[str]:
    """One stage with everything, or two: first what nobody judged, then people's answers (Zhou & Xu 2020, section 3.1). A
    stage without anything to learn is left out."""
    if not settings.two_stages:
        return [MIXED]
    there = {UNJUDGED: not data.by_people.all(), JUDGED: data.by_people.any() or not np.isnan(data.scores).all()}
    return [stage for stage, any_data in there.items() if any_data]


def shown_by(data: Data, step: Step) -> np.ndarray:
    """(p,) whether the step's stage and the curriculum show the pairs by now"""
    due = data.by_people | (data.margins >= curriculum.weak_margin(step.progress))  # (p,)
    return np.asarray(due & of_stage(data, step.stage))


def of_stage(data: Data, stage: str) -> np.ndarray:
    """(p,) the pairs that a stage learns from"""
    return np.ones(len(data.a), dtype=bool) if stage == MIXED else data.by_people == (stage == JUDGED)

"""Every judge whose inputs a campaign has, and how each answers."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from core.errors import Refused
from evaluator.judge_tables import imports
from evaluator.judges.protocol import Judge, OnProgress, likeliest, mean_points
from evaluator.judges.texts import Text
from evaluator.metaevaluation.comparison_scores import Contestants, scored
from evaluator.metaevaluation.judges_table import JudgeAnswers
from evaluator.metrics.inputs import ModelSource
from evaluator.metrics.registry import METRICS, TUNED
from evaluator.versions.registry import comparator_in_use, gate_doubt
from evaluator.worker.comparators import load
from evaluator.worker.judge_tables.material import INSTALLED, Material, metric_of, model_needed, pairs_to_read

MOST_NAMED = 5  # systems in a sentence


@dataclass(frozen=True)
class Candidate:
    """A judge that may be asked; why: what it lacks, where it lacks all. Nobody named an `optional` one, so that what it
    refuses stands beside the table and ends nothing. metric: its name and the model that it reads with."""

    name: str
    answer: Callable[[], JudgeAnswers] | None
    why: str = ""
    optional: bool = False
    metric: tuple[str, ModelSource] | None = None


def candidates(
    known: Material,
    others: Sequence[tuple[str, Judge]] = (),
    most_pairs: int | None = None,
    seed: int = 0,
    ways: Sequence[str] = (),
    watch: OnProgress | None = None,
    models: Mapping[str, Sequence[ModelSource]] = MappingProxyType({}),
    named: Collection[str] = (),
) -> list[Candidate]:
    """All judges there are for the campaign: the one place that lists them. others: further ones, by name; of those that read
    pairs each reads at most most_pairs, drawn by the seed. ways: of `comparison_scores.WAYS`, in which the comparator's
    comparisons are made scores too, each a judge of its own. watch: follows the further judges. models: by what needs
    them; a metric that needs one stands there with each of them. named: metrics whose encoder learns stand there only where
    they are named, for they take minutes."""
    metrics = [name for name in METRICS if name not in TUNED or name in named]
    found = [
        _comparator(known),
        *(_by_way(known, way, seed) for way in ways),
        *(_metric_with(known, name, model) for name in metrics for model in models.get(model_needed(name), [INSTALLED])),
    ]
    found += [Candidate(name, partial(_imported, known, name)) for name in imports.judges_of(known.campaign)]
    pairs = pairs_to_read(known, most_pairs, seed)
    return found + [Candidate(name, partial(_asked, known, name, judge, pairs, watch=watch)) for name, judge in others]


def _comparator(known: Material) -> Candidate:
    version = comparator_in_use(known.campaign)
    if version is None:
        return Candidate("comparator", None, "this campaign has no comparator in use")
    return Candidate(f"comparator {version.name}", lambda: _out_of_fold(known, version), optional=True)


def _out_of_fold(known: Material, version) -> JudgeAnswers:
    """Each context by the member that did not see it; a context that all members learned from is left out."""
    comparator = load(version)
    fresh = _fresh(known, comparator)
    lacks = _learned_from(known, fresh)
    pairs = [(a, b) for a, b in pairs_to_read(known) if fresh[a] and fresh[b]]
    said = _asked(known, version.name, comparator, pairs, fresh)
    settings = {"version": version.name, "seed": version.seed, "code": version.code, **_doubt(known, version)}
    return replace(said, lacks=lacks or said.lacks, settings=settings)


def _by_way(known: Material, way: str, seed: int) -> Candidate:
    version = comparator_in_use(known.campaign)
    if version is None:
        return Candidate(f"comparator, {way}", None, "this campaign has no comparator in use")

    def answer() -> JudgeAnswers:
        comparator = load(version)
        fresh = _fresh(known, comparator)
        rows = np.flatnonzero(fresh)
        field = Contestants([known.texts[i] for i in rows], known.people.human[rows], known.people.systems[rows])
        u = np.full(len(known.texts), np.nan)
        try:
            found = scored(way, comparator, field, seed)
        except ValueError as error:
            raise Refused(str(error)) from error
        u[rows] = found.scores
        cost = {"games": found.games, "read": found.read, "reads": comparator.kind}
        return JudgeAnswers(
            version.name,
            u,
            lacks=_learned_from(known, fresh),
            settings={"version": version.name, "seed": seed, **cost, **_doubt(known, version)},
        )

    return Candidate(f"comparator {version.name}, {way}", answer, optional=True)


def _doubt(known: Material, version) -> dict[str, str]:
    """What the table must say of it, where its gate did not pass."""
    doubt = gate_doubt(version, known.campaign)
    return {"doubt": doubt} if doubt else {}


def _fresh(known: Material, comparator) -> np.ndarray:
    """(n,) whether at least one member did not learn from the text's context or group"""
    return np.array([not comparator.manifest.taught(text) for text in known.texts], dtype=bool)


def _learned_from(known: Material, fresh: np.ndarray) -> str:
    learned = len({text.context for text, new in zip(known.texts, fresh, strict=True) if not new})
    return f"all of its members learned from {learned} of the contexts" if learned else ""


def _asked(
    known: Material,
    name: str,
    judge: Judge,
    pairs: Sequence[tuple[int, int]],
    fresh: np.ndarray | None = None,
    watch: OnProgress | None = None,
) -> JudgeAnswers:
    """What a pointwise judge says of the outputs, fresh (n,): of these only; or a pairwise one of the pairs."""
    u = np.full(len(known.texts), np.nan)
    if judge.kind == "pointwise":
        rows = np.arange(len(u)) if fresh is None else np.flatnonzero(fresh)
        u[rows] = judge.utilities([known.texts[i] for i in rows], on_progress=watch)
        if check := getattr(judge, "check", None):
            check()
        missing = [known.texts[i] for i in rows if np.isnan(u[i])]
        lacks = f"{len(missing)} of {len(u)} outputs are not judged{_why(judge, missing[0])}" if missing else ""
        return JudgeAnswers(name, u, lacks=lacks, settings=_settings(judge))
    if not pairs:
        return JudgeAnswers(name, u, {}, lacks="this judge reads pairs, and people judged none", settings=_settings(judge))
    a, b = np.array(pairs).T
    said = judge.compare([known.texts[i] for i in a], [known.texts[i] for i in b], on_progress=watch)
    if check := getattr(judge, "check", None):
        check()
    kept = [pair for pair, judged in zip(pairs, said.judged.tolist(), strict=True) if judged]
    met = np.unique(kept)
    u[met] = mean_points(len(u), a[said.judged], b[said.judged], said.probabilities[said.judged])[met]
    every = len(pairs_to_read(known))
    lacks = f"it read {len(kept):,} of the {every:,} pairs that people judged" if len(kept) < every else ""
    if len(kept) < len(pairs):
        systems = Counter(known.source.keys[i][1] for pair in set(pairs) - set(kept) for i in pair)
        lacks += f"; it was asked about {len(pairs):,}. In the unjudged pairs are outputs of: {_most(systems)}"
    choices = dict(zip(kept, said.choices[said.judged].tolist(), strict=True))
    return JudgeAnswers(name, u, choices, lacks=lacks, settings=_settings(judge))


def _most(systems: Counter[str]) -> str:
    """Those that are met most, by name where they are met alike; the others as one."""
    ordered = sorted(systems.items(), key=lambda one: (-one[1], one[0]))
    told = [f"{system} ({count:,})" for system, count in ordered[:MOST_NAMED]]
    if others := ordered[MOST_NAMED:]:
        told.append(f"{len(others):,} others (at most {others[0][1]:,} each)")
    return ", ".join(told)


def _why(judge: Judge, text: Text) -> str:
    """Of a text that the judge left out; a metric has a sentence for it."""
    lacks = getattr(judge, "lacks", None)
    return f": {lacks(text)}" if callable(lacks) else ""


def _settings(judge: Judge) -> dict:
    """With what its answers took, where they cost something."""
    return {**getattr(judge, "settings", {}), **getattr(judge, "used", {})}


def _imported(known: Material, name: str) -> JudgeAnswers:
    if of_pairs := imports.pairs_of(known.campaign, name):
        return _imported_pairs(known, name, of_pairs)
    given = imports.scores_of(known.campaign, name)
    u = np.array([given.get(key, np.nan) for key in known.source.keys], dtype=float)
    missing = int(np.isnan(u).sum())
    return JudgeAnswers(name, u, lacks=f"{missing} of {len(u)} outputs have no score" if missing else "")


def _imported_pairs(known: Material, name: str, said: Mapping[tuple, tuple[float, float, float]]) -> JudgeAnswers:
    """Of the pairs that people judged, those it judged too."""
    every, keys = pairs_to_read(known), known.source.keys
    pairs = [(a, b) for a, b in every if (keys[a], keys[b]) in said]
    u = np.full(len(keys), np.nan)
    if not pairs:
        return JudgeAnswers(name, u, {}, lacks="it judged none of the pairs that people judged")
    p, (a, b) = np.array([said[keys[a], keys[b]] for a, b in pairs]), np.array(pairs).T
    met = np.unique(pairs)
    u[met] = mean_points(len(u), a, b, p)[met]
    lacks = f"it judged {len(pairs):,} of the {len(every):,} pairs that people judged" if len(pairs) < len(every) else ""
    return JudgeAnswers(name, u, dict(zip(pairs, likeliest(p).tolist(), strict=True)), lacks=lacks)


def _metric_with(known: Material, name: str, model: ModelSource) -> Candidate:
    label = model.named(name)
    return Candidate(label, partial(_metric, known, label, name, model), optional=True, metric=(name, model))


def _metric(known: Material, label: str, name: str, model: ModelSource) -> JudgeAnswers:
    """Raises MissingInput, which is a Refused, for what the metric needs and the campaign has not."""
    return _asked(known, label, metric_of(known, name, model), [])

"""What people said in a snapshot, and what judges may read of it. Imported inside commands and task bodies: some need torch."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from annotation.models import Campaign, Reference, Snapshot
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator.encoders.text_encoder import KeptEncodings, TextEncoder
from evaluator.judges.texts import Referenced, kin_of, referenced
from evaluator.metaevaluation.judges_table import PeopleScores
from evaluator.metrics.inputs import MissingInput, ModelSource, Training, turns_of
from evaluator.metrics.language_models import LanguageModel
from evaluator.metrics.metric import MetricJudge
from evaluator.metrics.registry import METRICS, build
from evaluator.trainings import sources
from evaluator.versions.selectors import TrainingBasis, basis

LOADED: dict[str, Callable[[ModelSource], TextEncoder | LanguageModel]] = {
    "encoder": lambda model: KeptEncodings.load(model.source, pooling=model.pooling),
    "masked": lambda model: LanguageModel.masked(model.source),
    "causal": lambda model: LanguageModel.causal(model.source),
}
INSTALLED = ModelSource()


@dataclass(frozen=True)
class Material:
    """What people said in a snapshot, and what judges may read of it."""

    campaign: Campaign
    snapshot: Snapshot
    basis: TrainingBasis
    source: sources.Source
    people: PeopleScores

    @cached_property
    def texts(self) -> list[Referenced]:
        """(n,) the outputs; what people wrote for the same context is a reference of the others, as are the campaign's own."""
        given = [self.references.get(key[0], []) for key in self.source.keys]
        return referenced(self.source.texts, self.source.human, given, self._logprobs())

    def _logprobs(self) -> list[float | None]:
        """(n,) as generators gave them; empty where none did."""
        known = sources.logprobs(self.campaign)
        outputs = sources.outputs_of(self.snapshot, self.source.keys) if known else {}
        return [known.get(outputs[key].pk) if key in outputs else None for key in self.source.keys] if known else []

    @cached_property
    def training(self) -> Training | None:
        """What learned metrics learn from, out of fold by context or group; None where there is only one."""
        scores = self.source.scores[:, 0]  # (n,) means, 0..1
        if len(set(kin_of(self.texts))) < 2:
            return None
        if np.isnan(scores).all():
            return Training.dealt(self.texts)
        return replace(Training.dealt(self.texts, scores.tolist()), scales=((0.0, 1.0),), medians=self._medians())

    def _medians(self) -> list[float] | None:
        """(n,) of people's scores by the criterion, from 0 to 1 on its scale; None where the scale is not known."""
        if self.source.scale is None:
            return None
        low, high = self.source.scale
        given = [[value for _, value in said] for said in self.source.ratings]
        return [(float(np.median(said)) - low) / (high - low) if said else np.nan for said in given]

    @cached_property
    def models(self) -> dict[tuple[str, ModelSource], TextEncoder | LanguageModel]:
        """Those that were loaded already, by what needs them and their source: all metrics share one, which reads each text
        once."""
        return {}

    @cached_property
    def metrics(self) -> dict[tuple[str, ModelSource], MetricJudge]:
        """Those that were made already, by name and model: one that learns does so once."""
        return {}

    @cached_property
    def references(self) -> dict[str, list[str]]:
        """The campaign's references of each context that is judged, by its id."""
        found: dict[str, list[str]] = {}
        rows = Reference.objects.filter(context__campaign=self.campaign, context__key__in={key[0] for key in self.source.keys})
        for key, text in rows.values_list("context__key", "text"):
            found.setdefault(key, []).append(text)
        return found

    def numbers_of(self, systems: Collection[str]) -> tuple[int, ...]:
        """Of these systems in `people.systems`, all checkpoints. Raises Refused for one of which people judged no output."""
        numbers: dict[str, set[int]] = {}
        for key, number in zip(self.source.keys, self.people.systems.tolist(), strict=True):
            numbers.setdefault(key[1], set()).add(number)
        if unknown := sorted(set(systems) - set(numbers)):
            raise Refused(f"No output of {unknown[0]!r} was judged here; the systems are: {', '.join(sorted(numbers))}.")
        return tuple(sorted(set().union(*(numbers[name] for name in systems))))


def material(campaign: Campaign, criterion: str | None = None, name: str | None = None) -> Material:
    """Of the snapshot of this name, or the newest one. Raises Refused where there is none, or the criterion is not in it."""
    snapshot = campaign.snapshots.filter(digest__startswith=name).first() if name else latest_snapshot(campaign)
    if snapshot is None:
        known = f"no snapshot {name!r}" if name else "no accepted judgments yet; assess_quality freezes them"
        raise Refused(f"Campaign {campaign.slug!r} has {known}.")
    chosen = basis(snapshot, criterion)
    source = sources.read(snapshot, chosen.criterion, chosen.judgments)
    return Material(campaign, snapshot, chosen, source, _people(source))


def pairs_to_read(known: Material, most: int | None = None, seed: int = 0) -> list[tuple[int, int]]:
    """Positions of the pairs that people judged, each once; of more than `most`, as many drawn by the seed."""
    pairs = sorted({(p.a, p.b) for p in known.people.pairs})
    drawn = np.random.default_rng(seed).permutation(len(pairs))[:most]
    return [pairs[i] for i in sorted(drawn.tolist())]


def metric_of(known: Material, name: str, model: ModelSource = INSTALLED) -> MetricJudge:
    """The metric at work on the campaign. model: what it reads with. Raises MissingInput."""
    if (name, model) not in known.metrics:
        given = model_given(name, model, known.models)
        known.metrics[name, model] = build(name, corpus=turns_of(known.texts), training=known.training, **given)
    return known.metrics[name, model]


def model_given(
    name: str, model: ModelSource, loaded: dict[tuple[str, ModelSource], TextEncoder | LanguageModel]
) -> dict[str, Any]:
    """What `build` takes of the metric's model; loaded: those that are there already, to which this one is added. Raises
    MissingInput where it cannot be loaded, or is none of that kind."""
    need = model_needed(name)
    if need != "encoder" and not (need and model.source):
        return {}
    if (need, model) not in loaded:
        try:
            loaded[need, model] = LOADED[need](model)
        except (OSError, ValueError, KeyError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise MissingInput(f"The model {model.source!r} cannot be loaded: {reason}.") from error
    return {need: loaded[need, model]}


def model_needed(name: str) -> str:
    """What kind of model a metric reads with; empty where it needs none."""
    return METRICS[name].model


def _people(source: sources.Source) -> PeopleScores:
    names = sorted({who for given in source.ratings for who, _ in given})
    column = {who: j for j, who in enumerate(names)}
    scores = np.full((len(source.texts), len(names)), np.nan)
    for i, given in enumerate(source.ratings):
        for who, value in given:
            scores[i, column[who]] = value
    _, contexts = np.unique([key[0] for key in source.keys], return_inverse=True)
    _, systems = np.unique([f"{key[1]}\n{key[2]}" for key in source.keys], return_inverse=True)
    named = [f"group {text.group}" if text.group else f"context {key[0]}" for key, text in zip(source.keys, source.texts)]
    groups = np.unique(named, return_inverse=True)[1] if any(text.group for text in source.texts) else None
    words = np.array([len(text.output.split()) for text in source.texts], dtype=int)
    human, pairs = np.array(source.human, dtype=bool), tuple(source.pairs)
    return PeopleScores(scores, contexts, systems, human, words, pairs, groups, source.scale)

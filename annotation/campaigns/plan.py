"""From a campaign to its plan: how many judgments, how long, and the smallest difference that it can detect."""

from dataclasses import dataclass

import numpy as np
from django.db.models import Count

from annotation.answers import Filters, submissions
from annotation.design.pilot import components_of, pair_assumptions_of
from annotation.design.plan import SECONDS_PER_PAIR, SECONDS_PER_SCORE, Protocol
from annotation.design.power import (
    HIGH_VARIANCE,
    LOW_VARIANCE,
    Components,
    Detectable,
    PairAssumptions,
    Scale,
    detectable_difference,
    detectable_win_rate,
)
from annotation.models import Campaign, Purpose
from annotation.outcome import CODES
from annotation.questions import store

KEPT = ("likert", "pairwise", "pair_design", "pairs", "overlap", "overlap_percent", "quota", "gold_percent", "repeat_percent")
SYSTEMS, CONTEXTS = 4, 100  # assumed before any outputs are there
TIMES_READ = 5000
LEAST_SECONDS = 0.1  # that the plan's form takes: programs answer faster
LEAST_PILOT = 20  # answers: fewer say too little about how much they vary


def protocol_of(campaign: Campaign) -> dict:
    """The fields of Protocol as the campaign stands."""
    known = campaign.items.filter(purpose__in=[Purpose.TRAINING, Purpose.QUALIFICATION]).count()
    playing = campaign.items.filter(purpose=Purpose.EVALUATION).order_by()
    counts = playing.aggregate(systems=Count("output__system", distinct=True), contexts=Count("context", distinct=True))
    return {name: getattr(campaign, name) for name in KEPT} | {
        "systems": counts["systems"] if counts["systems"] > 1 else SYSTEMS,
        "contexts": counts["contexts"] or CONTEXTS,
        "extras": known,
    }


def seconds_of(campaign: Campaign) -> tuple[float | None, float | None]:
    """Median seconds for an output's scores and for a pair, idle time left out; None where nobody was timed."""
    newest = submissions(campaign, Filters()).exclude(took=None).order_by("-created_at")
    rows = list(newest.values_list("assignment__item__other", "took")[:TIMES_READ])
    medians = []
    for sides in (1, 2):
        took = [seconds for other, seconds in rows if (other is not None) == (sides == 2)]
        medians.append(float(np.median(took)) if took else None)
    return medians[0], medians[1]


@dataclass(frozen=True)
class Ground:
    """How much answers to one question vary, as far as is known or assumed. On it stands what can be detected. ends: of the
    scale, with the pilot's mean score."""

    about: str
    scale: str
    source: str
    assumed: Components | PairAssumptions
    ends: Scale | None = None

    @property
    def is_pairs(self) -> bool:
        return isinstance(self.assumed, PairAssumptions)

    def detectable(self, protocol: Protocol, annotators: int) -> Detectable | None:
        """None where nothing could be detected. Raises ValueError for fewer than two contexts or annotators."""
        if isinstance(self.assumed, PairAssumptions):
            meetings, people = max(2.0, protocol.contexts_per_pair), protocol.people_per_item
            known = {"systems": protocol.systems, "contexts": protocol.contexts}
            return detectable_win_rate(self.assumed, meetings, annotators, people, **known)
        people, systems = protocol.people_per_item, protocol.systems
        return detectable_difference(self.assumed, protocol.contexts, annotators, people, systems=systems, scale=self.ends)


def grounds_of(campaign: Campaign, protocol: Protocol, pilot: Campaign | None) -> list[Ground]:
    """For each question what the pilot says, or Card et al.'s two settings where the pilot says too little."""
    grounds = []
    if protocol.likert:
        known = _components_of(pilot) if pilot else {}
        for criterion in campaign.criteria.all():
            sources = known.get(criterion.name) or [
                ("assumed, low variance", LOW_VARIANCE.on(criterion.low, criterion.high), None),
                ("assumed, high variance", HIGH_VARIANCE.on(criterion.low, criterion.high), None),
            ]
            scale = f"{criterion.low} to {criterion.high}"
            grounds += [Ground(criterion.name, scale, *source) for source in sources]
    if protocol.pair_items:
        source, assumed = (pilot and _pairs_of(pilot)) or ("assumed", PairAssumptions())
        grounds.append(Ground("Pairs", "win rate", f"{source}, {assumed.ties:.0%} ties", assumed))
    return grounds


def _components_of(pilot: Campaign) -> dict[str, list[tuple[str, Components, Scale | None]]]:
    """(source, variances, scale) by the name of the criterion, where the pilot has LEAST_PILOT scores on it."""
    live = store.about_outputs(pilot).counted()
    of_criterion = "criterion__name", "criterion__low", "criterion__high"
    by_criterion: dict[tuple, list] = {}
    for *criterion, value, system, context, annotator in live.values_list(
        *of_criterion, "value", "output__system", "output__context", "annotator"
    ):
        by_criterion.setdefault(tuple(criterion), []).append((value, system, context, annotator))
    sources: dict[str, list[tuple[str, Components, Scale | None]]] = {}
    for (name, low, high), rows in by_criterion.items():
        components = components_of(*zip(*rows)) if len(rows) >= LEAST_PILOT else None
        if components:
            scale = Scale(low, high, float(np.mean([value for value, *_ in rows])))
            sources[name] = [(_source(pilot, len(rows), "scores"), components, scale)]
    return sources


def _pairs_of(pilot: Campaign) -> tuple[str, PairAssumptions] | None:
    live = store.about_pairs(pilot).counted().filter(criterion=None)
    rows = list(live.values_list("choice", "output_a__system", "output_b__system", "output_a__context", "annotator"))
    if len(rows) < LEAST_PILOT:
        return None
    choices, a, b, contexts, annotators = zip(*rows)
    outcomes = [1 - CODES[choice] for choice in choices]
    assumed = pair_assumptions_of(outcomes, a, b, contexts, annotators)
    return (_source(pilot, len(rows), "judgments"), assumed) if assumed else None


def _source(pilot: Campaign, count: int, what: str) -> str:
    return f"pilot, {count:,} {'simulated ' if pilot.is_simulated else ''}{what}"


def assumed_seconds(campaign: Campaign) -> dict:
    """Seconds for the plan's form: timed ones where there are any, else the assumption."""
    score, pair = seconds_of(campaign)
    return {
        "seconds_per_score": max(LEAST_SECONDS, round(score, 1)) if score else SECONDS_PER_SCORE,
        "seconds_per_pair": max(LEAST_SECONDS, round(pair, 1)) if pair else SECONDS_PER_PAIR,
        "is_timed": bool(score or pair),
    }

"""From a campaign to its plan: how many judgments, how long, and the smallest difference that it can detect."""

import math
import random
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef

from annotation.answers import Filters, submissions
from annotation.design.needed import Judge, Way, at_budget, ways
from annotation.design.pilot import components_of, pair_assumptions_of, ranking_assumptions_of
from annotation.design.plan import SECONDS_PER_SCORE, Protocol, plan, seconds_together
from annotation.design.power import (
    HIGH_VARIANCE,
    LOW_VARIANCE,
    POWER,
    Components,
    Detectable,
    PairAssumptions,
    Scale,
    detectable_difference,
    detectable_win_rate,
    power_for_difference,
    power_for_win_rate,
)
from annotation.models import Campaign, Criterion, Item, Purpose
from annotation.outcome import CODES
from annotation.questions import conditions, store
from annotation.questions.columns import RANKING
from core.errors import Refused

KEPT = (
    "likert",
    "pairwise",
    "pair_design",
    "pairs",
    "outputs_at_once",
    "best_worst",
    "overlap",
    "overlap_percent",
    "quota",
    "gold_percent",
    "repeat_percent",
)
SYSTEMS, CONTEXTS = 4, 100  # assumed before any outputs are there
TIMES_READ = 5000
LEAST_SECONDS = 0.1  # that the plan's form takes: programs answer faster
GROUPED = "; contexts of one group, such as turns of a conversation, counted as independent, so it may take more"
WITHIN = "; its board compares within contexts and people, which a plan does not count, so it may take more"
MOST_PILOT, MOST_PEOPLE = 10_000, 100  # answers and people whose variances are read: half a minute on one core
LEAST_TIMES = 0.05  # below it, "0 times as much" would be said
ALONE = -1  # in place of the number of a ranking
LEAST_PILOT = 20  # answers: fewer say too little about how much they vary


def protocol_of(campaign: Campaign) -> dict:
    """The fields of Protocol as the campaign stands."""
    known = campaign.items.filter(purpose__in=[Purpose.TRAINING, Purpose.QUALIFICATION]).count()
    playing = Item.objects.filter(campaign=campaign, purpose=Purpose.EVALUATION)
    systems = campaign.systems.filter(Exists(playing.filter(output__system=OuterRef("pk"))), retired_at=None).count()
    contexts = campaign.contexts.filter(Exists(playing.filter(context=OuterRef("pk")))).count()
    return {name: getattr(campaign, name) for name in KEPT} | {
        "systems": systems if systems > 1 else SYSTEMS,
        "contexts": contexts or CONTEXTS,
        "extras": known,
    }


def seconds_of(campaign: Campaign) -> tuple[float | None, float | None]:
    """Median seconds for an output's scores and for a pair, or a ranking where these are asked for, idle time left out; None
    where nobody was timed."""
    newest = submissions(campaign, Filters()).exclude(took=None).order_by("-assignment")
    rows = list(newest.values_list("assignment__item__other", "assignment__item__further", "took")[:TIMES_READ])
    medians = []
    for texts in (1, campaign.outputs_at_once):
        took = [seconds for other, further, seconds in rows if _texts(other, further) == (texts > 1, texts > 2)]
        medians.append(float(np.median(took)) if took else None)
    return medians[0], medians[1]


def _texts(other: int | None, further: list | None) -> tuple[bool, bool]:
    """Has an item two texts, and has it more?"""
    return other is not None, bool(further)


@dataclass(frozen=True)
class Ground:
    """How much answers to one question vary, as far as is known or assumed. On it stands what can be detected. ends: of the
    scale, with the pilot's mean score; share: of a person's outputs, of which the question is asked; divides: how many times as
    much people's leanings vary over the system that is ahead as over the others."""

    about: str
    scale: str
    source: str
    assumed: Components | PairAssumptions
    ends: Scale | None = None
    share: float = 1.0

    @property
    def divides(self) -> float:
        """Infinite where people do not differ over the others at all."""
        others = self.assumed.leaning(False)
        ahead = others if self.assumed.ahead is None else self.assumed.ahead
        return ahead / others if others else math.inf if ahead else 1.0

    @property
    def is_pairs(self) -> bool:
        return isinstance(self.assumed, PairAssumptions)

    def detectable(self, protocol: Protocol, annotators: int) -> Detectable | None:
        """None where nothing could be detected. Raises ValueError for fewer than two contexts or annotators."""
        if isinstance(self.assumed, PairAssumptions):
            meetings, people = max(2.0, protocol.contexts_per_pair), protocol.people_per_item
            known: dict[str, Any] = {"systems": protocol.systems, "contexts": protocol.contexts, "together": protocol.together}
            return detectable_win_rate(self.assumed, meetings, annotators, people, **known)
        people, systems = self._people(protocol), protocol.systems
        return detectable_difference(self.assumed, protocol.contexts, annotators, people, systems=systems, scale=self.ends)

    def power(self, difference: float, protocol: Protocol, annotators: int, judge: Judge | None = None) -> float:
        """The chance to find a difference: points of the scale, or how far a win rate is from one half."""
        people, systems, left = self._people(protocol), protocol.systems, judge.left(protocol.contexts) if judge else 1.0
        if isinstance(self.assumed, PairAssumptions):
            meetings = max(2.0, protocol.contexts_per_pair)
            known: dict[str, Any] = {"systems": systems, "contexts": protocol.contexts, "together": protocol.together}
            return power_for_win_rate(difference, self.assumed.with_judge(left), meetings, annotators, people, **known)
        helped, contexts = self.assumed.with_judge(left), protocol.contexts
        return power_for_difference(difference, helped, contexts, annotators, people, systems=systems, scale=self.ends)

    def _people(self, protocol: Protocol) -> tuple[tuple[float, float], ...]:
        """Where a question is asked of a share, an output's people are asked it together or not at all: so least is known."""
        return tuple((self.share * share, k) for share, k in protocol.people_per_item)


@dataclass(frozen=True)
class Search:
    """What finds a difference that is given. ways: the fewest contexts by people an item; at_budget: what the plan's own number
    of judgments finds otherwise shared out."""

    ground: Ground
    difference: float
    ways: list[Way]
    at_budget: list[Way]
    budget: int

    @property
    def cheapest(self) -> Way | None:
        return min(self.ways, key=lambda way: (way.judgments, way.contexts), default=None)

    def as_dict(self) -> dict:
        cheapest = self.cheapest
        return {
            "question": self.ground.about,
            "unit": "win rate beyond one half" if self.ground.is_pairs else "points of the scale",
            "variance_from": self.ground.source,
            "difference": self.difference,
            "divides": round(self.ground.divides, 3) if math.isfinite(self.ground.divides) else None,
            "power": POWER,
            "cheapest": cheapest.as_dict() if cheapest else None,
            "ways": [way.as_dict() for way in self.ways],
            "budget": self.budget,
            "at_budget": [way.as_dict() for way in self.at_budget],
        }


def questions_of(campaign: Campaign) -> list[str]:
    """What a plan may be about."""
    scored = list(campaign.criteria.values_list("name", flat=True)) if campaign.likert else []
    return [*scored, *(["Pairs"] if campaign.pairwise else [])]


def search_campaign(
    campaign: Campaign,
    difference: float,
    question: str = "",
    contexts: int | None = None,
    annotators: int | None = None,
    pilot: Campaign | None = None,
    judge_correlation: float | None = None,
    judge_contexts: int | None = None,
    system: str = "",
    divides: float | None = None,
    figures: dict | None = None,
    share: float | None = None,
) -> list[Search]:
    """As the page does, of the campaign's own protocol: for commands and programs. figures: `pilot_figures` of the pilot, where
    they are known; share: as in `grounds_of`. Raises Refused."""
    fields = protocol_of(campaign) | ({"contexts": contexts} if contexts else {}) | {"annotators": annotators}
    protocol = Protocol(**fields)
    grounds = grounds_of(campaign, protocol, pilot or campaign, system, divides, figures, share)
    if not grounds:
        raise Refused(f"Campaign {campaign.slug!r} asks no question that a plan knows; add a criterion, or ask for pairs.")
    judge = Judge(judge_correlation, judge_contexts or 10 * protocol.contexts) if judge_correlation else None
    try:
        people = plan(protocol).annotators
    except ValueError as error:
        raise Refused(str(error)) from None
    return searches(grounds, protocol, people, question or grounds[0].about, difference, judge)


def searches(
    grounds: list[Ground], protocol: Protocol, annotators: int, question: str, difference: float, judge: Judge | None = None
) -> list[Search]:
    """What finds the difference in the answers to this question, for each thing that is known or assumed of it. Raises Refused
    where nobody asks it, or it has no such difference."""
    asked = [ground for ground in grounds if ground.about.casefold() == question.strip().casefold()]
    if not asked:
        known = ", ".join(dict.fromkeys(ground.about for ground in grounds)) or "none"
        raise Refused(f"The plan has no question {question!r}; it has: {known}.")
    if not difference > 0 or (asked[0].is_pairs and difference >= 0.5):
        raise Refused("The difference must be above 0" + (" and below 0.5: 0.1 is 60% of wins." if asked[0].is_pairs else "."))
    return [_search(ground, protocol, annotators, difference, judge) for ground in asked]


def _search(ground: Ground, protocol: Protocol, annotators: int, difference: float, judge: Judge | None) -> Search:
    def shape(contexts: int, each: int) -> Protocol:
        return replace(protocol, contexts=contexts, overlap=each, overlap_percent=100, pairs=None, **every_pair)

    def power(contexts: int, each: int, people: int) -> float:
        return ground.power(difference, shape(contexts, each), people, judge)

    def judgments(contexts: int, each: int) -> int:
        asked = shape(contexts, each)
        return asked.judgments_of(asked.pair_items if ground.is_pairs else asked.score_items)

    every_pair: dict = {"pair_design": "ring"} if protocol.pair_design == "number" else {}
    budget = protocol.judgments_of(protocol.pair_items if ground.is_pairs else protocol.score_items)
    found = ways(power, judgments, annotators)
    return Search(ground, difference, found, at_budget(power, judgments, annotators, budget), budget)


def grounds_of(
    campaign: Campaign,
    protocol: Protocol,
    pilot: Campaign | None,
    system: str = "",
    divides: float | None = None,
    figures: dict | None = None,
    share: float | None = None,
) -> list[Ground]:
    """For each question what the pilot says, or Card et al.'s two settings where the pilot says too little. system: the one of
    the pilot's that is planned to be ahead, to count how much people divide over it; divides: how many times as much their
    leanings to it vary as those to the others, in place of what the pilot says. figures: `pilot_figures` of the pilot, where
    they are known; share: of the outputs, of which a question with a condition is asked, in place of what the pilot says.
    Raises Refused where the pilot has no such system. Where contexts come in groups, the sources say that a plan counts them as
    independent."""
    grounds, ahead = [], system_of(pilot, system)
    if pilot and figures is None:
        figures = pilot_figures(pilot, ahead)
    if protocol.likert:
        known = _known_components(pilot, figures) if pilot and figures else {}
        for criterion in campaign.criteria.all():
            sources = known.get(criterion.name) or [
                ("assumed, low variance", LOW_VARIANCE.on(criterion.low, criterion.high), None),
                ("assumed, high variance", HIGH_VARIANCE.on(criterion.low, criterion.high), None),
            ]
            scale = f"{criterion.low} to {criterion.high}"
            asked, only = _asked(criterion, share, figures)
            grounds += [Ground(criterion.name, scale, f"{source}{only}", held, ends, asked) for source, held, ends in sources]
    if protocol.pair_items:
        known_pairs = figures["pairs"] if pilot and figures else None
        source = _source(pilot, known_pairs, known_pairs["what"]) if pilot and known_pairs else "assumed"
        assumed = PairAssumptions(**known_pairs["variances"]) if known_pairs else PairAssumptions()
        if protocol.together.best_worst:
            assumed = replace(assumed, ties=0.0)  # nobody can say so
        grounds.append(Ground("Pairs", "win rate", f"{source}, {assumed.ties:.0%} ties", assumed))
    grouped = any(one.has_groups for one in {campaign, pilot or campaign})
    return [_divided(replace(ground, source=f"{ground.source}{GROUPED * grouped}"), system, divides) for ground in grounds]


def _asked(criterion: Criterion, share: float | None, figures: dict | None) -> tuple[float, str]:
    """(the share of a person's outputs that it is asked of, that in words)"""
    if not criterion.asked_if:
        return 1.0, ""
    seen = figures["scores"].get(criterion.name, {}).get("share") if figures else None
    asked, who = (share, "you say") if share is not None else (seen, "the pilot has")
    so = f"of {asked:.0%} of outputs, as {who}" if asked is not None else "planned as if of each output"
    within = WITHIN * conditions.depends_on_answers(criterion.asked_if)
    return 1.0 if asked is None else asked, f"; {conditions.in_words(criterion.asked_if)}, {so}{within}"


def system_of(pilot: Campaign | None, name: str) -> int | None:
    """Its key. Raises Refused."""
    if not name or not pilot:
        return None
    keys = dict(pilot.systems.values_list("name", "pk"))
    if name not in keys:
        raise Refused(f"Campaign {pilot.slug!r} has no system {name!r}; it has: {', '.join(sorted(keys)) or 'none'}.")
    return keys[name]


def _divided(ground: Ground, system: str, divides: float | None) -> Ground:
    """Where somebody says how much people divide over the system ahead, that; and it is said."""
    if divides is not None:
        ground = replace(ground, assumed=ground.assumed.with_ahead(divides))
    if ground.assumed.ahead is None:
        return ground
    said = f"people's leanings to {system or 'the system ahead'} {_vary(ground.divides)}"
    return replace(ground, source=f"{ground.source}; {said}")


def _vary(times: float) -> str:
    if times < LEAST_TIMES:
        return "hardly vary, those to others do"
    return f"vary {times:.2g} times as much as those to others" if math.isfinite(times) else "vary, those to others do not"


def pilot_figures(pilot: Campaign, ahead: int | None = None) -> dict:
    """What a pilot's answers say, as JSON: {"scores": {criterion: {count, read, share, scale, variances}}, "pairs": {count,
    read, what, variances} or None}, of what has LEAST_PILOT answers. share: of the outputs that a person answered at all; what:
    "judgments" or "rankings", each of which is one answer; read: how many the variances are from. ahead: the key of the system
    whose leanings are told apart."""
    return {"scores": _components_of(pilot, ahead), "pairs": _pairs_of(pilot, ahead)}


def _known_components(pilot: Campaign, figures: dict) -> dict[str, list[tuple[str, Components, Scale | None]]]:
    """(source, variances, scale) by the name of the criterion."""
    return {
        name: [(_source(pilot, known, "scores"), Components(**known["variances"]), Scale(*known["scale"]))]
        for name, known in figures["scores"].items()
    }


def _components_of(pilot: Campaign, ahead: int | None) -> dict[str, dict]:
    live = store.about_outputs(pilot).counted()
    of_criterion = "criterion__name", "criterion__low", "criterion__high", "criterion__best"
    by_criterion: dict[tuple, list] = {}
    answered = set()
    for *criterion, output, value, system, context, annotator in live.values_list(
        *of_criterion, "output", "value", "output__system", "output__context", "annotator"
    ):
        answered.add((output, annotator))
        by_criterion.setdefault(tuple(criterion), []).append((value, system, context, annotator))
    found = {}
    for (name, low, high, best), rows in by_criterion.items():
        drawn = _drawn(rows, pilot.seed)
        values, systems, contexts, annotators = zip(*drawn)
        components = components_of(values, systems, contexts, annotators, ahead) if len(rows) >= LEAST_PILOT else None
        if components:
            mean = float(np.mean([value for value, *_ in rows]))
            scale = [low, high, mean if best == Criterion.Best.HIGH else low + high - mean]  # ahead is up
            told = {"count": len(rows), "read": len(drawn), "share": len(rows) / len(answered)}
            found[name] = told | {"scale": scale, "variances": asdict(components)}
    return found


def _pairs_of(pilot: Campaign, ahead: int | None) -> dict | None:
    live = store.about_pairs(pilot).counted().filter(criterion=None)
    columns = (
        "choice",
        "output_a",
        "output_b",
        "output_a__system",
        "output_b__system",
        "detail",
        "output_a__context",
        "annotator",
    )
    rows = list(live.values_list(*columns))
    sheets: dict[tuple, int] = {}
    numbers = [_sheet(row, sheets) for row in rows]
    count = len(sheets) + numbers.count(ALONE)
    if count < LEAST_PILOT:
        return None
    drawn = _drawn([(*row[:5], number, *row[6:]) for row, number in zip(rows, numbers)], pilot.seed)
    choices, a, b, system_a, system_b, sheet, contexts, annotators = zip(*drawn)
    outcomes = [1 - CODES[choice] for choice in choices]
    read = len(set(sheet) - {ALONE}) + sheet.count(ALONE)
    if sheets:
        outputs = a, b, dict(zip((*a, *b), (*system_a, *system_b)))
        assumed = ranking_assumptions_of(outcomes, *outputs, sheet, contexts, annotators, ahead)
    else:
        assumed = pair_assumptions_of(outcomes, system_a, system_b, contexts, annotators, ahead)
    what = "rankings" if sheets else "judgments"
    return {"count": count, "read": read, "what": what, "variances": asdict(assumed)} if assumed else None


def _sheet(row: tuple, sheets: dict[tuple, int]) -> int:
    """The number of the ranking that a judgment was in, ALONE for none."""
    *_, detail, context, annotator = row
    name = (detail or {}).get(RANKING)
    return sheets.setdefault((annotator, context, name), len(sheets)) if name else ALONE


def _drawn(rows: list[tuple], seed: int) -> list[tuple]:
    """Of rows (..., context, annotator) those of MOST_PEOPLE people drawn at random, and of them whole contexts, drawn at
    random, with MOST_PILOT rows or fewer. All, where they are no more."""
    draw = random.Random(seed)
    people = sorted({row[-1] for row in rows})
    if len(people) > MOST_PEOPLE:
        chosen = set(draw.sample(people, MOST_PEOPLE))
        rows = [row for row in rows if row[-1] in chosen]
    if len(rows) <= MOST_PILOT:
        return rows
    counts = Counter(row[-2] for row in rows)
    kept, left = set(), MOST_PILOT
    for context in draw.sample(sorted(counts), len(counts)):
        left -= counts[context]
        if left < 0 and kept:
            break
        kept.add(context)
    return [row for row in rows if row[-2] in kept]


def _source(pilot: Campaign, known: dict, what: str) -> str:
    of = f"{known['read']:,} drawn of " if known["read"] < known["count"] else ""
    return f"pilot, {of}{known['count']:,} {'simulated ' if pilot.is_simulated else ''}{what}"


def assumed_seconds(campaign: Campaign) -> dict:
    """Seconds for the plan's form: timed ones where there are any, else the assumption."""
    score, pair = seconds_of(campaign)
    return {
        "seconds_per_score": max(LEAST_SECONDS, round(score, 1)) if score else SECONDS_PER_SCORE,
        "seconds_per_pair": max(LEAST_SECONDS, round(pair, 1)) if pair else seconds_together(campaign.outputs_at_once),
        "is_timed": bool(score or pair),
    }

"""What the product claims of its certainty: the campaigns in which a claim is measured, its figure, and its bounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.questions import planned_rankings
from benchmarks.questions.asked import campaigns
from benchmarks.validity import planned
from benchmarks.validity.generators import Campaign
from benchmarks.validity.simulation import Record

SYSTEMS = (0.0, 0.2, 0.4, 0.6, 0.8)
EQUAL = (0.0,) * 5
SCORES = Campaign(SYSTEMS)
PAIRS = Campaign(tuple(1.5 * s for s in SYSTEMS), design="pairs", noise_scale=1.0)
TALKS = {"contexts": 150, "turns": 3, "topic": 0.4}  # ten conversations of each of five systems
HEAVY = dict(severity=1.0, use=0.3, tails=True, drift=0.5, opinion=0.5, noise="t")  # all that the estimator does not assume
ORDERED = Campaign(SYSTEMS, contexts=60, severity=1.0)  # raw means of 12 annotators, k = 3, even: tau 0.84
FEW = 100  # simulations of each question or plan, where nobody says how many
ENOUGH = 12  # annotators, from which on intervals must not be too wide either


@dataclass(frozen=True)
class Figure:
    """value, se: of a share, or of a difference; beside: further columns"""

    value: float
    se: float
    beside: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """scenarios: name -> campaign; figure: of the records of one scenario; bounds: what the figure must lie between; n: of
    simulations, where the claim needs its own number; share: is the figure shown in per cent?"""

    name: str
    scenarios: dict[str, Any]
    figure: Callable[[Sequence[Record]], Figure]
    bounds: Callable[[Any], tuple[float, float]]
    share: bool = True
    n: int = 200


@dataclass(frozen=True)
class Row:
    """holds: "yes"; "unsure", where the bound is missed by less than two standard errors; or "no"."""

    scenario: str
    n: int
    figure: Figure
    holds: str


def rows(claim: Claim, records: Callable[[Any], Sequence[Record]]) -> list[Row]:
    """One for each scenario that was simulated twice at least."""
    of_scenario = {name: (campaign, records(campaign)) for name, campaign in claim.scenarios.items()}
    return [row(claim, name, c, kept) for name, (c, kept) in of_scenario.items() if len(kept) > 1]


def row(claim: Claim, name: str, campaign: Campaign, records: Sequence[Record]) -> Row:
    figure, n = claim.figure(records), len(records)
    low, high = claim.bounds(campaign)
    missed, bound = max((low - figure.value, low), (figure.value - high, high))
    error = figure.se or np.sqrt(max(bound * (1 - bound), 0.0) / n)  # where all came out alike: a share's error at the bound
    return Row(name, n, figure, "yes" if missed <= 0 else "unsure" if missed < 2 * error else "no")


def mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean and its standard error, over independent simulations."""
    array = np.asarray(values, dtype=float)
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array)))


def share_of(name: str) -> Callable[[Sequence[Record]], Figure]:
    return lambda records: Figure(*mean([float(record[name]) for record in records]))


def coverage(records: Sequence[Record]) -> Figure:
    """The standard error is over campaigns: the intervals of one campaign depend on each other."""
    width = float(np.median([record["width"] for record in records]))
    best = oracle_width(records)
    beside = {"median width": f"{width:.3g}", "oracle's width": f"{best:.3g}", "ratio": f"{width / best:.2f}"}
    return Figure(*mean([record["covered"] for record in records]), beside)


def oracle_width(records: Sequence[Record]) -> float:
    """Of who knows how much the estimate varies from campaign to campaign: 2 * 1.96 of its SD, over all pairs of systems."""
    differences = np.array([record["difference"] for record in records])  # (campaigns, pairs)
    return float(2 * 1.96 * np.sqrt(differences.var(axis=0, ddof=1).mean()))


def plans(records: Sequence[Record]) -> Figure:
    """How many find what they were planned for, with 80%; where none could be made, nothing is found."""
    wanted = [record["wanted"] for record in records if record["wanted"] is not None]
    beside = {"planned, median": f"{np.median(wanted or [np.nan]):.3f}", "no plan": f"{1 - len(wanted) / len(records):.1%}"}
    return Figure(*mean([float(record["found"]) for record in records]), beside)


def order(records: Sequence[Record]) -> Figure:
    """How much nearer to the truth the board's order is than the raw means'; paired, on the same answers."""
    board, raw = (mean([record[name] for record in records])[0] for name in ("tau", "raw_tau"))
    gain = mean([record["tau"] - record["raw_tau"] for record in records])
    return Figure(*gain, {"board's tau": f"{board:.3f}", "raw mean's tau": f"{raw:.3f}"})


def of_answers(base: Campaign, answers: int) -> Campaign:
    """With as many contexts as it takes; pairs have five to a context, scores one for each system."""
    each = base.pairs if base.design == "pairs" else base.systems
    return replace(base, contexts=answers // (each * base.k))


def grid() -> dict[str, Campaign]:
    campaigns = {}
    for kind, base in (("scores", SCORES), ("pairs", PAIRS)):
        for answers in (300, 3000):
            for annotators in (6, 12, 48):
                for taste in (0.0, 0.3, 0.6):
                    for load in ("even", "uneven"):
                        name = f"{kind}, {answers:,} answers, {annotators} annotators, taste {taste:g}, {load}"
                        c = replace(of_answers(base, answers), annotators=annotators, taste=taste, load=load)
                        campaigns[name] = c
    return campaigns


def harder() -> dict[str, Campaign]:
    """Where people are not as the estimator assumes."""
    scores, pairs = of_answers(SCORES, 1000 // 15 * 15), of_answers(PAIRS, 1000 // 15 * 15)
    sparse = replace(SCORES, k=1, contexts=200)
    return {
        "scores, most at the ceiling": replace(scores, ceiling=2.0),
        "scores, strict and mild, scale used differently, t-tailed tastes and noise, drift": replace(scores, **HEAVY),
        "scores, dense": replace(scores, design="dense"),
        "scores, one answer each, one annotator gives 40%": replace(sparse, load="one"),
        "scores, one answer each, 48 annotators, uneven": replace(sparse, annotators=48, load="uneven"),
        "scores, 8 topics": replace(scores, contexts=64, topics=8, topic=0.4),
        "scores, conversations of each system's own": replace(SCORES, **TALKS),
        "pairs, side preference, t-tailed tastes and noise, own opinions": replace(pairs, side=0.5, **HEAVY),
        "pairs, one answer each, one annotator gives 40%": replace(PAIRS, k=1, contexts=200, load="one"),
        "pairs, 8 topics": replace(pairs, contexts=64, topics=8, topic=0.4),
        "pairs, systems far apart": replace(pairs, strengths=(0.0, 1.0, 2.0, 3.0, 4.0)),
    }


def equal() -> dict[str, Campaign]:
    campaigns = {}
    for kind, base in (("scores", SCORES), ("pairs", PAIRS)):
        base = replace(of_answers(base, 990), strengths=EQUAL)
        for annotators in (6, 12, 48):
            campaigns[f"{kind}, {annotators} annotators, taste 0.6"] = replace(base, annotators=annotators, taste=0.6)
        for topics in (8, 16):
            c = replace(base, contexts=64, taste=0.3, topics=topics, topic=0.5)
            campaigns[f"{kind}, 12 annotators, taste 0.3, {topics} topics"] = c
        if kind == "scores":
            campaigns["scores, 12 annotators, conversations of each system's own"] = replace(base, **TALKS)
        heavy = replace(base, **HEAVY, load="uneven", side=0.5 if kind == "pairs" else 0.0)
        campaigns[f"{kind}, 12 annotators, all that the estimator does not assume"] = heavy
    return campaigns


def orders() -> dict[str, Campaign]:
    campaigns = {}
    for annotators in (3, 12, 48):
        for k in (1, 3):
            for load in ("even", "uneven"):
                name = f"{annotators} annotators, k = {k}, {load}"
                campaigns[name] = replace(ORDERED, annotators=annotators, k=k, load=load)
    return campaigns


def apart() -> dict[str, Campaign]:
    return {
        "scores, 3 and 2 systems": replace(SCORES, contexts=40, apart=3),
        "pairs, 3 and 2 systems": replace(PAIRS, contexts=40, pairs=10, apart=3),
    }


def _between(low: float, high: float) -> Callable[[Campaign], tuple[float, float]]:
    return lambda campaign: (low, high)


def claims() -> list[Claim]:
    return [
        Claim("coverage", grid(), coverage, lambda c: (0.93, 0.98 if c.annotators >= ENOUGH else 1.0)),
        Claim("coverage-harder", harder(), coverage, _between(0.93, 1.0)),
        Claim("ranks", grid() | harder(), share_of("ranks"), _between(0.95, 1.0)),
        Claim("false", equal(), share_of("false"), _between(0.0, 0.05)),
        Claim("order", orders(), order, _between(0.0, 2.0), share=False),
        Claim("plan", planned.scenarios() | planned_rankings.scenarios(), plans, _between(0.75, 0.85), n=FEW),
        Claim("questions", campaigns(equal=False) | campaigns(equal=True), coverage, _between(0.93, 1.0), n=FEW),
        Claim("questions-other", campaigns(False, True) | campaigns(True, True), coverage, _between(0.0, 1.0), n=FEW),
        Claim("questions-false", campaigns(equal=True), share_of("false"), _between(0.0, 0.05), n=FEW),
        Claim("apart", apart(), share_of("across"), _between(0.0, 0.0)),
    ]

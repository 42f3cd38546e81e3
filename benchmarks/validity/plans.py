"""Campaigns that were planned: does the board find the difference that the plan says it finds?

A plan is made of what a pilot says of the variances, or of variances known from a pilot that is large enough. It names the
smallest difference that is found with power 80%. A campaign is drawn in which one system is ahead of the others by that."""

from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import logit

from annotation.design import moderation, pilot, power
from annotation.design.power import Components, Detectable, PairAssumptions, Scale, detectable_difference, detectable_win_rate
from benchmarks.validity import boards, generators
from benchmarks.validity.generators import RATING_POINTS, Answers, Campaign

SOURCES = [Path(str(module.__file__)) for module in (moderation, pilot, power)]
KNOWN = 0  # annotators of the pilot: variances are known
LARGE, LARGE_PILOTS = dict(annotators=150, contexts=300), 10  # pilots whose mean they are: 2% of people's variance is luck
SCALE = (1, len(generators.CUTS) + 1)
STRENGTHS = (0.0, 0.15, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.5)


@dataclass(frozen=True)
class Plan:
    """campaign: systems of equal strength, one of which is then ahead; pilot: its annotators, or KNOWN; pilot_contexts: its
    contexts; named: does the plan know which system will be ahead?"""

    campaign: Campaign
    pilot: int = KNOWN
    pilot_contexts: int = 20
    named: bool = False

    @property
    def ahead(self) -> int | None:
        return self.campaign.systems - 1 if self.named else None

    @property
    def annotators(self) -> int:
        return self.campaign.annotators


def curve(plan: Plan) -> np.ndarray:
    """(strengths,) the true difference, in points of the scale or in rating points, of a system with each of STRENGTHS and one
    with strength 0"""
    population = generators.population(plan.campaign)
    differences = []
    for strength in STRENGTHS:
        true = generators.truth(replace(population, strengths=_ahead(plan.campaign, strength)), draws=200_000)
        differences.append(true[-1] - true[0])
    return np.array(differences)


def simulate(plan: Plan, true: np.ndarray, seed: int) -> dict:
    """detected: is the system that is ahead called better than the first; planned: how far it is ahead, on the latent scale"""
    detectable = planned(plan, 0 if plan.pilot == KNOWN else seed + 1)
    if detectable is None:
        return {"planned": None, "detected": False}
    wanted = detectable.difference
    if plan.campaign.design == "pairs":
        wanted = RATING_POINTS * float(logit(0.5 + wanted))
    strength = float(PchipInterpolator(true, STRENGTHS)(min(wanted, true[-1])))
    campaign = replace(plan.campaign, strengths=_ahead(plan.campaign, strength))
    stated = boards.read(campaign, generators.draw_answers(campaign, seed))
    return {"planned": strength, "detected": bool(stated.above[-1, 0])}


@lru_cache
def planned(plan: Plan, seed: int) -> Detectable | None:
    """What the campaign would find, with a pilot drawn from this seed; None where the plan says that nothing would be found."""
    small = replace(plan.campaign, annotators=plan.pilot, contexts=plan.pilot_contexts)
    if plan.pilot == KNOWN:
        pilots = [_assumed(replace(small, **LARGE), seed + k, plan.ahead) for k in range(LARGE_PILOTS)]
        told = [[known for known in astuple(one)[:-1] if known is not None] for one in pilots if one is not None]
        assumed = type(pilots[0])(*np.mean(told, axis=0).tolist())
    else:
        assumed = _assumed(small, seed, plan.ahead)
    design = plan.campaign
    people, systems = ((1.0, float(design.k)),), design.systems
    if assumed is None:
        return None
    if isinstance(assumed, PairAssumptions):
        meetings = design.contexts * design.pairs / (systems * (systems - 1) / 2)
        known = {"systems": systems, "contexts": design.contexts}
        return detectable_win_rate(assumed, meetings, design.annotators, people, **known)
    large = replace(small, **LARGE) if plan.pilot == KNOWN else small
    scale = Scale(*SCALE, float(np.mean(generators.draw_answers(large, seed).value)))
    return detectable_difference(assumed, design.contexts, design.annotators, people, systems=systems, scale=scale)


def _assumed(small: Campaign, seed: int, ahead: int | None) -> Components | PairAssumptions | None:
    answers = generators.draw_answers(small, seed)
    if small.design == "pairs":
        return pilot.pair_assumptions_of(*_columns(answers, "outcome", "first", "second"), ahead=ahead)
    return pilot.components_of(*_columns(answers, "value", "system"), ahead=ahead)


def _columns(answers: Answers, *names: str) -> tuple:
    return *(getattr(answers, name) for name in names), answers.context, answers.annotator


def _ahead(campaign: Campaign, strength: float) -> tuple[float, ...]:
    return (0.0,) * (campaign.systems - 1) + (strength,)

"""Campaigns of people who are not alike, planned from a pilot: does the default board find what the plan says that it finds?

A pilot is entered by people of its own. The plan is made of it for the campaign's protocol, and names the smallest difference
that is found with power 80%. In the campaign, by other people, the last system is ahead of the others by that; found is it
where the default board puts it above the first."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from annotation.design.pilot import components_of, pair_assumptions_of
from annotation.design.plan import Protocol
from annotation.design.power import Scale
from benchmarks.database import prepared
from benchmarks.validity import default_path
from benchmarks.validity.crowds import EASY, TIE, Crowd, Entered, cuts, draw
from benchmarks.validity.simulation import Record

if TYPE_CHECKING:
    from annotation.campaigns.plan import Ground

PILOT_SEED = 10**9  # how far the seeds of pilots are from those of campaigns
FURTHEST = 12.0  # strength on the latent scale that is as good as the best


class Plan:
    """Of a campaign with its protocol: `small` is that of its pilot; drawn, ground, ahead and is_found are as of `Planned`."""

    def truth(self) -> np.ndarray:
        return np.zeros(0)

    def simulate(self: Any, true: np.ndarray, seed: int, folder: Path | None = None) -> Record:
        """found: is the system that is ahead found; wanted: how far it was planned to be ahead, None where no plan could be
        made. folder: through files there"""
        prepared()
        known = self.ground(self.drawn(self.small, seed + PILOT_SEED), folder)
        plan = known and known.detectable(self.protocol, self.protocol.annotators)
        if not plan:
            return {"found": False, "wanted": None}
        campaign = self.ahead(plan.difference)
        return {"found": self.is_found(campaign, self.drawn(campaign, seed), folder), "wanted": round(plan.difference, 4)}

    def compared(self: Any, folder: Path, seed: int) -> None:
        """Raises SystemExit where the commands say otherwise."""
        if (here := self.simulate(self.truth(), seed)) != (there := self.simulate(self.truth(), seed, folder)):
            raise SystemExit(f"seed {seed}: the commands say {there}, the harness says {here}")


@dataclass(frozen=True)
class Planned(Plan):
    """crowd: systems of equal strengths, the last is then ahead; pilot, pilot_contexts: its people and contexts; named:
    is the plan told which system will be ahead?"""

    crowd: Crowd
    pilot: int
    pilot_contexts: int = 20
    named: bool = False

    @property
    def small(self) -> Crowd:
        return replace(self.crowd, people=self.pilot, contexts=self.pilot_contexts)

    @property
    def protocol(self) -> Protocol:
        pairs = self.crowd.form == "pairs"
        design = {"pair_design": "all", "pairwise": True, "likert": False} if pairs else {}
        return Protocol(self.crowd.systems, self.crowd.contexts, overlap=self.crowd.k, annotators=self.crowd.people, **design)

    @property
    def told(self) -> int | None:
        """The system that the plan knows will be ahead."""
        return self.crowd.systems - 1 if self.named else None

    drawn = staticmethod(draw)

    def ahead(self, wanted: float) -> Crowd:
        """The campaign in which the last system is ahead by so much."""
        return replace(self.crowd, strengths=(*self.crowd.strengths[:-1], strength_of(self.crowd, wanted)))

    def ground(self, entered: Entered, folder: Path | None) -> "Ground | None":
        """What the answers of a pilot say; None where they say nothing."""
        from annotation.campaigns.plan import Ground  # needs a database
        from benchmarks.validity import imported

        if folder:
            return imported.ground(imported.entered_campaign(folder, self.small, entered), self.protocol, self.told)
        if self.crowd.form == "pairs":
            judged = entered.outcome, entered.first, entered.second, entered.pair_context, entered.pair_person
            pairs = pair_assumptions_of(*judged, ahead=self.told)
            return pairs and Ground("Pairs", "", "", pairs)
        scores = entered.value, entered.system, entered.context, entered.person
        variances = components_of(*scores, ahead=self.told)
        return variances and Ground("Quality", "", "", variances, Scale(1, self.crowd.points, float(entered.value.mean())))

    def is_found(self, campaign: Crowd, entered: Entered, folder: Path | None) -> bool:
        """Is the last system stated to be above the first?"""
        from benchmarks.validity import imported  # needs a database

        if folder:
            return imported.is_above(imported.played(folder, campaign, entered), campaign.systems - 1, 0)
        return bool(default_path.board(campaign, entered).above[-1, 0])


def scenarios() -> dict[str, Planned]:
    scores = Crowd((0.0,) * 2)
    five = Crowd((0.0,) * 5, contexts=40)
    pairs = Crowd((0.0,) * 2, contexts=100, form="pairs")
    three = Crowd((0.0,) * 3, form="pairs")
    rows = {f"scores, 2 systems, pilot of {n}": Planned(scores, n) for n in (4, 8, 20)}
    rows |= {"scores, 5 systems, pilot of 20": Planned(five, 20)}
    rows |= {"scores, 5 systems, one polarises, named, pilot of 20": Planned(replace(five, polarising=1.0), 20, named=True)}
    rows |= {f"pairs, 2 systems, pilot of {n}": Planned(pairs, n) for n in (8, 20)}
    rows |= {"pairs, 3 systems, pilot of 20": Planned(three, 20)}
    rows |= {"pairs, 3 systems, one polarises, named, pilot of 20": Planned(replace(three, polarising=1.0), 20, named=True)}
    return rows


def difference(crowd: Crowd, strength: float) -> float:
    """The truth of the last system, this strong, beside the first: points of the scale, or the win rate beyond one half."""
    last = crowd.polarising or crowd.taste
    luck = crowd.erratic or crowd.luck
    if crowd.form == "pairs":
        spread = np.sqrt(crowd.luck**2 + luck**2 + crowd.taste**2 + last**2 + 2 * crowd.noise**2)
        wins, loses = norm.sf((TIE - strength) / spread), norm.cdf((-TIE - strength) / spread)
        return float(wins - loses) / 2
    alike = crowd.severity**2 + EASY**2 + crowd.noise**2
    of_last, of_first = np.sqrt(alike + last**2 + luck**2), np.sqrt(alike + crowd.taste**2 + crowd.luck**2)
    return float(norm.sf((cuts(crowd) - strength) / of_last).sum() - norm.sf(cuts(crowd) / of_first).sum())


def strength_of(crowd: Crowd, wanted: float) -> float:
    """How strong the last system is where its difference is this one, or the largest that there is."""
    if wanted >= difference(crowd, FURTHEST):
        return FURTHEST
    return float(brentq(lambda strength: difference(crowd, strength) - wanted, 0.0, FURTHEST))

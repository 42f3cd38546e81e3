"""Campaigns of people who are not alike, planned from a pilot: does the default board find what the plan says that it finds?

    python -m benchmarks.validity.planned --n 750 --imported 75

A pilot is entered by people of its own. The plan is made of it for the campaign's protocol, and names the smallest difference
that is found with power 80%. In the campaign, by other people, the last system is ahead of the others by that; found is it
where the default board puts it above the first. --imported: so many campaigns of each row, and their pilots, also go as files
through the commands, the default filter and the default board, and must give the same plan and the same statement."""

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from annotation.design.pilot import components_of, pair_assumptions_of
from annotation.design.plan import Protocol
from annotation.design.power import Scale
from benchmarks.database import own_database
from benchmarks.tables import head, options, row
from benchmarks.validity import default_path
from benchmarks.validity.crowds import EASY, TIE, Crowd, Entered, cuts, draw

if TYPE_CHECKING:
    from annotation.campaigns.plan import Ground

PILOT_SEED = 10**9  # how far the seeds of pilots are from those of campaigns
FURTHEST = 12.0  # strength on the latent scale that is as good as the best
Way = Callable[..., tuple[bool, float]]  # of a campaign, a seed and, through the commands, a folder; as `simulated` has it


@dataclass(frozen=True)
class Planned:
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

    def ahead(self, strength: float) -> Crowd:
        return replace(self.crowd, strengths=(*self.crowd.strengths[:-1], strength))


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


def ground(planned: Planned, entered: Entered) -> "Ground | None":
    """What the answers of a pilot say; None where they say nothing."""
    from annotation.campaigns.plan import Ground  # needs a database

    if planned.crowd.form == "pairs":
        judged = entered.outcome, entered.first, entered.second, entered.pair_context, entered.pair_person
        pairs = pair_assumptions_of(*judged, ahead=planned.told)
        return pairs and Ground("Pairs", "", "", pairs)
    scores = entered.value, entered.system, entered.context, entered.person
    variances = components_of(*scores, ahead=planned.told)
    return variances and Ground("Quality", "", "", variances, Scale(1, planned.crowd.points, float(entered.value.mean())))


def detectable(planned: Planned, known: "Ground | None") -> float:
    """The smallest difference that is found; not a number where it is none."""
    found = known and known.detectable(planned.protocol, planned.crowd.people)
    return found.difference if found else np.nan


def simulated(planned: Planned, seed: int) -> tuple[bool, float]:
    """(is the system that is ahead found, how far it was planned to be ahead)"""
    wanted = detectable(planned, ground(planned, draw(planned.small, seed + PILOT_SEED)))
    if np.isnan(wanted):
        return False, wanted
    campaign = planned.ahead(strength_of(planned.crowd, wanted))
    return bool(default_path.board(campaign, draw(campaign, seed)).above[-1, 0]), wanted


def through_commands(planned: Planned, seed: int, folder: Path) -> tuple[bool, float]:
    """The same, from files."""
    from benchmarks.validity import imported  # needs a database

    pilot = draw(planned.small, seed + PILOT_SEED)
    wanted = detectable(planned, imported.ground(folder, planned.small, pilot, planned.protocol, planned.told))
    if np.isnan(wanted):
        return False, wanted
    campaign = planned.ahead(strength_of(planned.crowd, wanted))
    return imported.is_above(imported.played(folder, campaign, draw(campaign, seed)), planned.crowd.systems - 1, 0), wanted


def compared(simulated: Way, through_commands: Way, campaign: Any, seed: int, folder: Path) -> tuple[bool, float]:
    """What is simulated, where the commands say the same. Raises SystemExit where they do not."""
    found, whole = simulated(campaign, seed), through_commands(campaign, seed, folder)
    if found[0] != whole[0] or not np.isclose(found[1], whole[1], rtol=1e-6, equal_nan=True):
        raise SystemExit(f"seed {seed}: the commands say {whole}, the harness says {found}")
    return found


def table(doc: str | None, unit: str, campaigns: Mapping[str, Any], simulated: Way, through_commands: Way, level=0.0) -> None:
    """level: what stands for no difference, in the unit"""
    parser = options(doc)
    parser.add_argument("--imported", type=int, default=0, help="of each row, go through the commands too (default none)")
    asked = parser.parse_args()
    head("planned for 80%", "N", "imported", "found", "SE", f"planned {unit}, median", "without a plan", "seconds")
    with own_database(), tempfile.TemporaryDirectory() as folder:
        for name, c in campaigns.items():
            if asked.only in name:
                start, seeds = time.process_time(), range(asked.seed, asked.seed + asked.n)
                found = [compared(simulated, through_commands, c, seed, Path(folder)) for seed in seeds[: asked.imported]]
                found += [simulated(c, seed) for seed in seeds[asked.imported :]]
                above, wanted = np.array(found, dtype=float).T
                power, seconds = above.mean(), (time.process_time() - start) / asked.n
                error = np.sqrt(power * (1 - power) / asked.n)
                shown = f"{power:.1%}", f"{error:.1%}", f"{level + np.nanmedian(wanted):.3f}", f"{np.isnan(wanted).mean():.1%}"
                row(name, asked.n, min(asked.imported, asked.n), *shown, f"{seconds:.2f}")


if __name__ == "__main__":
    table(__doc__, "difference", scenarios(), simulated, through_commands)

"""Rankings that are planned from a pilot (`benchmarks.validity.planned`), by the people of `rankings`: the win rate of the last
system against any other that is found with power 80%."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

from annotation.design.pilot import ranking_assumptions_of
from annotation.design.plan import Protocol
from benchmarks.questions.asked import ranked
from benchmarks.questions.rankings import Campaign, Ranked, drawn, judged_pairs, read, seen_by
from benchmarks.validity.planned import FURTHEST, Plan

PILOT_PEOPLE, TRUTH_DRAWS = 20, 50_000
FIVE, SIX = Campaign((0.0,) * 5, contexts=30), Campaign((0.0,) * 6, block=3, contexts=40)


@dataclass(frozen=True)
class PlannedRankings(Plan):
    c: Campaign

    drawn = staticmethod(drawn)

    @property
    def small(self) -> Campaign:
        return replace(self.c, people=PILOT_PEOPLE)

    @property
    def protocol(self) -> Protocol:
        c, count = self.c, self.c.contexts * (self.c.systems // self.c.block)
        asked: dict[str, Any] = {"likert": False, "pairwise": True, "pair_design": "number", "pairs": count}
        asked |= {"outputs_at_once": c.block, "best_worst": c.is_best_worst}
        return Protocol(c.systems, c.contexts, overlap=c.each, annotators=c.people, **asked)

    def ahead(self, wanted: float) -> Campaign:
        return ahead_by(self.c, round(wanted, 2))

    def ground(self, pilot: Ranked, folder: Path | None) -> Any:
        from annotation.campaigns.plan import Ground  # needs a database
        from benchmarks.validity import imported

        c = self.c
        if folder:
            return imported.ground(imported.stored(folder, ranked(c, pilot)), self.protocol)
        number, i, j, outcome = judged_pairs(c, pilot)
        first, second = (pilot.context[number] * c.systems + pilot.system[number, side] for side in (i, j))
        system_of = {output: output % c.systems for output in np.concatenate([first, second]).tolist()}
        of = number, pilot.context[number], pilot.person[number]
        assumed = ranking_assumptions_of(outcome, first, second, system_of, *of)
        return assumed and Ground("Pairs", "", "", assumed)

    def is_found(self, c: Campaign, said: Ranked, folder: Path | None) -> bool:
        from benchmarks.validity import imported  # needs a database

        if folder:
            return imported.is_above(imported.board_of(imported.stored(folder, ranked(c, said)), ""), c.systems - 1, 0)
        return bool(read(c, said).above[-1, 0])


def scenarios() -> dict[str, PlannedRankings]:
    ties, best_worst = replace(FIVE, ties=0.6), replace(FIVE, is_best_worst=True)
    named = {"5 of 5": FIVE, "5 of 5 with ties": ties, "3 of 6": SIX, "best and worst of 5": best_worst}
    return {f"rankings, {name}": PlannedRankings(c) for name, c in named.items()}


def win_rate(c: Campaign, strength: float) -> float:
    """Of the last system against the first, beyond one half; ties count half."""
    everybody, ahead = np.arange(TRUTH_DRAWS), replace(c, strengths=(*c.strengths[:-1], strength))
    system = np.tile([0, c.systems - 1], (TRUTH_DRAWS, 1))
    seen = seen_by(ahead, system, everybody, everybody, np.random.default_rng(4523))
    return float(np.mean(np.sign(seen[:, 1] - seen[:, 0]))) / 2


@cache
def ahead_by(c: Campaign, wanted: float) -> Campaign:
    strength = brentq(lambda x: win_rate(c, x) - wanted, -1.0, FURTHEST, xtol=1e-3)
    return replace(c, strengths=(*c.strengths[:-1], float(strength)))

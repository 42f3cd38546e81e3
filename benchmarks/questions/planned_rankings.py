"""Campaigns of rankings, planned from a pilot: does the default board find what the plan says that it finds?

    python -m benchmarks.questions.planned_rankings [--n 200] [--imported 2] [--only "best and worst"]

The people are those of `rankings`, whose generator shares nothing with the plan. A pilot of equal systems is ranked by 20 of
them; the plan names the win rate that is found with power 80%. In the campaign, by other people, the last system wins so often
against any other; found is it where the board puts it above the first. --imported: so many campaigns of each row, and their
pilots, also go as files through the commands and the default board, and must give the same plan and the same statement."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

from annotation.design.pilot import ranking_assumptions_of
from annotation.design.plan import Protocol
from benchmarks.questions.rankings import Campaign, Ranked, drawn, ranks, read_as_rankings, seen_by
from benchmarks.validity.planned import FURTHEST, PILOT_SEED, table

PILOT_PEOPLE, TRUTH_DRAWS = 20, 50_000
FIVE, SIX = Campaign((0.0,) * 5, contexts=30), Campaign((0.0,) * 6, block=3, contexts=40)
CAMPAIGNS = {
    "5 of 5": FIVE,
    "5 of 5 with ties": replace(FIVE, ties=0.6),
    "3 of 6": SIX,
    "best and worst of 5": replace(FIVE, is_best_worst=True),
}


def protocol_of(c: Campaign) -> Protocol:
    return Protocol(
        c.systems,
        c.contexts,
        likert=False,
        pairwise=True,
        pair_design="number",
        pairs=c.contexts * (c.systems // c.block),
        outputs_at_once=c.block,
        best_worst=c.is_best_worst,
        overlap=c.each,
        annotators=c.people,
    )


def judgments_of(c: Campaign, ranked: Ranked) -> Iterator[tuple[int, int, int, int]]:
    """(ranking, its first output, second, +1, 0 or -1 for the first), outputs by their place in it"""
    places = ranks(c, ranked)
    for number, place in enumerate(places):
        for i, j in combinations(range(c.block), 2):
            if place[i] != place[j] or not c.is_best_worst:
                yield number, i, j, int(np.sign(place[j] - place[i]))


def ground(c: Campaign, pilot: Ranked) -> Any:
    from annotation.campaigns.plan import Ground  # needs a database

    number, i, j, outcome = np.array(list(judgments_of(c, pilot))).T
    first, second = (pilot.context[number] * c.systems + pilot.system[number, side] for side in (i, j))
    system_of = {output: output % c.systems for output in np.concatenate([first, second]).tolist()}
    judged = outcome, first, second, system_of, number, pilot.context[number], pilot.person[number]
    assumed = ranking_assumptions_of(*judged)
    return assumed and Ground("Pairs", "", "", assumed)


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


def simulated(c: Campaign, seed: int) -> tuple[bool, float]:
    """(is the system that is ahead found, how far it was planned to be ahead)"""
    known = ground(c, drawn(replace(c, people=PILOT_PEOPLE), seed + PILOT_SEED))
    found = known and known.detectable(protocol_of(c), c.people)
    if not found:
        return False, np.nan
    campaign = ahead_by(c, round(found.difference, 2))
    return bool(read_as_rankings(campaign, drawn(campaign, seed)).above[-1, 0]), found.difference


def rows_of(c: Campaign, ranked: Ranked) -> Iterator[dict[str, Any]]:
    """As a file has them"""
    for number, i, j, outcome in judgments_of(c, ranked):
        context, sides = ranked.context[number], ranked.system[number]
        place = {"context_id": f"c{context:03}", "context": [f"context {context}"], "annotator": f"a{ranked.person[number]:02}"}
        said = {f"system_{x}": f"s{sides[at]}" for x, at in (("a", i), ("b", j))}
        said |= {f"output_{x}": f"output {sides[at]} on {context}" for x, at in (("a", i), ("b", j))}
        yield place | said | {"choice": "tie" if outcome == 0 else "A" if outcome > 0 else "B", "ranking": f"r{number}"}


def through_commands(c: Campaign, seed: int, folder: Path) -> tuple[bool, float]:
    """The same, from files."""
    from annotation.campaigns.plan import grounds_of
    from annotation.models import Campaign as Stored
    from benchmarks.validity.imported import _command, is_above, lines

    def entered(c: Campaign, ranked: Ranked) -> Stored:
        Stored.objects.filter(slug="ranked").delete()
        _command("create_campaign", "ranked", "--criterion", "Quality:1:5")
        _command("import_judgments", "ranked", lines(folder / "judgments.jsonl", rows_of(c, ranked)))
        return Stored.objects.get(slug="ranked")

    pilot = entered(c, drawn(replace(c, people=PILOT_PEOPLE), seed + PILOT_SEED))
    found = grounds_of(pilot, protocol_of(c), pilot)[-1].detectable(protocol_of(c), c.people)
    if not found:
        return False, np.nan
    campaign = ahead_by(c, round(found.difference, 2))
    stored = entered(campaign, drawn(campaign, seed))
    _command("assess_quality", "ranked")
    _command("run_tournament", "ranked", "--basis", "people", "--wait")
    return is_above(stored.tournaments.get(), c.systems - 1, 0), found.difference


if __name__ == "__main__":
    table(__doc__, "win rate", CAMPAIGNS, simulated, through_commands, level=0.5)

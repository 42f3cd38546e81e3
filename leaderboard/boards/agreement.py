"""How far two boards order the systems alike."""

from typing import Any

import numpy as np

from evaluator.metaevaluation.correlation import UndefinedCorrelation, spearman, spearman_interval
from leaderboard.models import Tournament

MIN_SYSTEMS = 3  # fewer have no rank correlation worth the name


def agreement_with_people(tournament: Tournament, people: Tournament | None) -> dict | None:
    """Of a board with people's; None where there is no people's board, or where this is theirs."""
    if people is None or tournament.judge == Tournament.Judge.PEOPLE:
        return None
    signed = {"tournament": people.pk, "signature": people.signature, "simulated": people.is_simulated}
    return {"people": signed, **agreement(tournament, people)}


def agreement(one: Tournament, other: Tournament) -> dict:
    """{all, generated}: Spearman's correlation of two boards, over all systems and over those not written by people.
    Its intervals are paired: both boards were rated on the same draws of contexts."""
    ours, theirs = _by_system(one), _by_system(other)
    shared = [pk for pk in ours if pk in theirs]
    generated = [pk for pk in shared if not ours[pk][2]]
    paired = one.settings["contexts"] == other.settings["contexts"]
    return {"all": _correlation(ours, theirs, shared, paired), "generated": _correlation(ours, theirs, generated, paired)}


def _by_system(tournament: Tournament) -> dict[int, tuple]:
    """System id -> (rating, ratings in the replicates, is it human-written), of those that played."""
    column = {pk: i for i, pk in enumerate(tournament.settings["systems"])}
    replicates = np.array(tournament.replicates, dtype=float)  # (replicates, systems)
    ratings = tournament.ratings.filter(games__gt=0).order_by("system_id")
    return {r.system_id: (r.rating, replicates[:, column[r.system_id]], r.is_human) for r in ratings}


def _correlation(ours: dict, theirs: dict, systems: list[int], paired: bool) -> dict:
    found: dict[str, Any] = {"spearman": None, "low": None, "high": None, "systems": len(systems), "reason": ""}
    if len(systems) < MIN_SYSTEMS:
        return found | {"reason": f"A rank correlation needs at least {MIN_SYSTEMS} systems; {len(systems)} played on both."}
    try:
        found["spearman"] = round(spearman([ours[pk][0] for pk in systems], [theirs[pk][0] for pk in systems]), 4)
        if not paired:
            return found | {"reason": "Contexts were added between the two tournaments; play both again for an interval."}
        one, other = (np.column_stack([board[pk][1] for pk in systems]) for board in (ours, theirs))
        low, high = spearman_interval(one, other)
    except UndefinedCorrelation as error:
        return found | {"reason": str(error)}
    return found | {"low": round(low, 4), "high": round(high, 4)}

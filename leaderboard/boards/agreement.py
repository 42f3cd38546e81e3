"""How far two boards order the systems alike."""

from functools import lru_cache
from typing import Any

import numpy as np

from evaluator.metaevaluation.correlation import UndefinedCorrelation, spearman
from leaderboard.models import Tournament
from leaderboard.rating.board_agreement import MIN_SYSTEMS, BoardAgreement, Estimate, board_agreement, joint_noise


def agreement_with_people(tournament: Tournament, people: Tournament | None) -> dict | None:
    """Of a board with people's; None where there is no people's board, or where this is theirs."""
    if people is None or tournament.basis == Tournament.Basis.PEOPLE:
        return None
    signed = {"tournament": people.pk, "signature": people.signature, "simulated": people.is_simulated}
    return {"people": signed, **agreement(tournament, people)}


def agreement(one: Tournament, other: Tournament) -> dict:
    """{all, generated}: how two boards agree, over all systems and over those not written by people.

    spearman, low, high: as the two boards show it, and the interval of what two boards like these are expected to show;
    true_spearman, true_pearson: {value, low, high} of the two judges' strengths, without the noise of the boards;
    ceiling: {value, low, high}, Spearman's correlation of the board named by `ceiling_of` with another one like it. Noise
    is paired: both boards were rated on the same draws of contexts."""
    if one.basis == Tournament.Basis.PEOPLE:  # the ceiling is people's, where one of the boards is
        one, other = other, one
    ours, theirs = _by_system(one), _by_system(other)
    common = [pk for pk in ours if pk in theirs]
    generated = [pk for pk in common if not ours[pk][2]]
    contexts = (_contexts(one), _contexts(other)) if one.settings["contexts"] == other.settings["contexts"] else None
    return {
        "ceiling_of": other.basis,
        "all": _agreement(ours, theirs, common, contexts),
        "generated": _agreement(ours, theirs, generated, contexts),
    }


def _by_system(tournament: Tournament) -> dict[int, tuple]:
    """System id -> (rating, ratings in the replicates, is it human-written), of those that played."""
    column = {pk: i for i, pk in enumerate(tournament.settings["systems"])}
    replicates = np.array(tournament.replicates, dtype=float)  # (replicates, systems)
    ratings = tournament.ratings.filter(games__gt=0).order_by("system_id")
    return {r.system_id: (r.rating, replicates[:, column[r.system_id]], r.is_human) for r in ratings}


def _contexts(tournament: Tournament) -> int:
    """On how many contexts it was played; boards of before did not say."""
    return tournament.findings.get("contexts_played", tournament.settings["contexts"])


def _agreement(ours: dict, theirs: dict, systems: list[int], contexts: tuple[int, int] | None) -> dict:
    """contexts: how many each board was played on; None where they are not paired."""
    result: dict[str, Any] = {"spearman": None, "low": None, "high": None, "systems": len(systems), "reason": ""}
    result |= {"true_spearman": None, "true_pearson": None, "ceiling": None}
    if len(systems) < MIN_SYSTEMS:
        return result | {"reason": f"A rank correlation needs at least {MIN_SYSTEMS} systems; {len(systems)} played on both."}
    one, other = ([board[pk][0] for pk in systems] for board in (ours, theirs))
    try:
        result["spearman"] = round(spearman(one, other), 4)
    except UndefinedCorrelation as error:
        return result | {"reason": str(error)}
    if contexts is None:
        return result | {"reason": "Contexts were added between the two tournaments; play both again for an interval."}
    first, second = (np.column_stack([board[pk][1] for pk in systems]) for board in (ours, theirs))
    noise = joint_noise(first, second, *contexts)
    estimated = _estimated(tuple(one), tuple(other), noise.tobytes())
    low, high = (round(end, 4) for end in (estimated.observed.low, estimated.observed.high))
    return result | {
        "low": min(low, result["spearman"]),
        "high": max(high, result["spearman"]),
        "true_spearman": _rounded(estimated.spearman),
        "true_pearson": _rounded(estimated.pearson),
        "ceiling": _rounded(estimated.ceiling),
    }


@lru_cache(maxsize=256)
def _estimated(one: tuple[float, ...], other: tuple[float, ...], noise: bytes) -> BoardAgreement:
    """`board_agreement`, which takes a tenth of a second, once for the same two boards."""
    n = len(one)
    return board_agreement(one, other, np.frombuffer(noise).reshape(2 * n, 2 * n))


def _rounded(estimate: Estimate) -> dict[str, float]:
    return {"value": round(estimate.value, 4), "low": round(estimate.low, 4), "high": round(estimate.high, 4)}

"""How far two boards order the systems alike."""

from functools import lru_cache

import numpy as np

from evaluator.metaevaluation.correlation import UndefinedCorrelation, spearman
from leaderboard.boards.estimates import Estimate
from leaderboard.boards.panels import AgreementPanel, Correlation
from leaderboard.boards.row_facts import BasisKind, basis_kind
from leaderboard.models import Tournament
from leaderboard.rating import board_agreement
from leaderboard.rating.board_agreement import MIN_SYSTEMS, joint_noise


def agreement_with_people(tournament: Tournament, people: Tournament | None) -> AgreementPanel | None:
    """Of a board with people's; None where there is no people's board, or where this is theirs."""
    if people is None or basis_kind(tournament) == "people":
        return None
    ceiling_of, every, generated = agreement(tournament, people)
    return AgreementPanel(
        tournament=people.pk,
        signature=people.signature,
        simulated=people.is_simulated,
        ceiling_of=ceiling_of,
        all=every,
        generated=generated,
    )


def agreement(one: Tournament, other: Tournament) -> tuple[BasisKind, Correlation, Correlation]:
    """(whose board the ceiling is of, over all systems, over those not written by people). The interval of Spearman's
    correlation is of what two boards like these are expected to show. Noise is paired: both boards were rated on the same
    draws of contexts."""
    if basis_kind(one) == "people":  # the ceiling is people's, where one of the boards is
        one, other = other, one
    ours, theirs = _by_system(one), _by_system(other)
    common = [pk for pk in ours if pk in theirs]
    generated = [pk for pk in common if not ours[pk][2]]
    contexts = (_contexts(one), _contexts(other)) if one.settings["contexts"] == other.settings["contexts"] else None
    every, machines = (_correlation(ours, theirs, systems, contexts) for systems in (common, generated))
    return basis_kind(other), every, machines


def _by_system(tournament: Tournament) -> dict[int, tuple]:
    """System id -> (rating, ratings in the replicates, is it human-written), of those that played."""
    column = {pk: i for i, pk in enumerate(tournament.settings["systems"])}
    replicates = np.array(tournament.replicates, dtype=float)  # (replicates, systems)
    ratings = tournament.ratings.filter(games__gt=0).order_by("system_id")
    return {r.system_id: (r.rating, replicates[:, column[r.system_id]], r.is_human) for r in ratings}


def _contexts(tournament: Tournament) -> int:
    """On how many contexts it was played; boards of before did not say."""
    played = (tournament.board or {}).get("population", {}).get("contexts")
    return played or tournament.findings.get("contexts_played", tournament.settings["contexts"])


def _correlation(ours: dict, theirs: dict, systems: list[int], contexts: tuple[int, int] | None) -> Correlation:
    """contexts: how many each board was played on; None where they are not paired."""
    n = len(systems)
    if n < MIN_SYSTEMS:
        return Correlation(n, reason=f"A rank correlation needs at least {MIN_SYSTEMS} systems; {n} played on both.")
    one, other = ([board[pk][0] for pk in systems] for board in (ours, theirs))
    try:
        shown = round(spearman(one, other), 4)
    except UndefinedCorrelation as error:
        return Correlation(n, reason=str(error))
    if contexts is None:
        reason = "Contexts were added between the two tournaments; play both again for an interval."
        return Correlation(n, shown, reason=reason)
    first, second = (np.column_stack([board[pk][1] for pk in systems]) for board in (ours, theirs))
    noise = joint_noise(first, second, *contexts)
    estimated = _estimated(tuple(one), tuple(other), noise.tobytes())
    low, high = (round(end, 4) for end in (estimated.observed.low, estimated.observed.high))
    return Correlation(
        systems=n,
        spearman=shown,
        low=min(low, shown),
        high=max(high, shown),
        true_spearman=_rounded(estimated.spearman),
        true_pearson=_rounded(estimated.pearson),
        ceiling=_rounded(estimated.ceiling),
    )


@lru_cache(maxsize=256)
def _estimated(one: tuple[float, ...], other: tuple[float, ...], noise: bytes) -> board_agreement.BoardAgreement:
    """Their agreement, which takes a tenth of a second, once for the same two boards."""
    n = len(one)
    return board_agreement.board_agreement(one, other, np.frombuffer(noise).reshape(2 * n, 2 * n))


def _rounded(estimate: board_agreement.AgreementEstimate) -> Estimate:
    return Estimate(round(estimate.value, 4), round(estimate.low, 4), round(estimate.high, 4))

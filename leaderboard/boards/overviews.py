"""Several boards at once: over time, by criterion, side by side; and the systems that take part."""

from itertools import combinations
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q

from annotation.models import Campaign, LikertScore, Output, System
from leaderboard.boards.agreement import agreement
from leaderboard.boards.queries import CORRECTED, JUDGE, PEOPLE, choices, default_board, finished, latest, of_judge
from leaderboard.models import SystemRating, Tournament

SHOWN = 12  # boards in a history


def history(campaign: Campaign, basis: str, criterion: str, judge: str = "") -> tuple[list[Tournament], list[dict]]:
    """The last boards of a judge and criterion, oldest first, and each system's rows on them.

    Systems as they stand on the newest board they were on: {name, system, points: SystemRating or None a board}.
    """
    boards = of_judge(finished(campaign), basis, judge).filter(criterion=criterion, level=Tournament.Level.SYSTEM)
    boards = list(boards.defer("replicates", "head_to_head", "findings")[:SHOWN])[::-1]

    def newest_first(system: dict) -> tuple:
        last = max(i for i, row in enumerate(system["points"]) if row)
        return -last, -system["points"][last].rating

    return boards, sorted(_systems_on(boards), key=newest_first)


def by_criterion(campaign: Campaign, basis: str, judge: str = "") -> tuple[list[Tournament], list[dict]]:
    """The judge's newest board of each criterion, and each system's rows on them, best mean rating first."""
    criteria = [criterion for *judges, criterion in choices(campaign) if judges == [basis, judge]]
    boards = [latest(campaign, basis, criterion, judge=judge) for criterion in criteria]

    def mean(system: dict) -> float:
        there = [row.rating for row in system["points"] if row]
        return sum(there) / len(there)

    return boards, sorted(_systems_on(boards), key=mean, reverse=True)


def _systems_on(boards: list[Tournament]) -> list[dict]:
    """{name, system, points: its SystemRating on each board, None where it is not or took no part}"""
    column = {board.pk: i for i, board in enumerate(boards)}
    systems: dict[int, dict] = {}
    for row in (
        SystemRating.objects.filter(tournament__in=boards, games__gt=0).select_related("system").order_by("system__name")
    ):
        nowhere = {"name": row.system.name, "system": row.system_id, "points": [None] * len(boards)}
        systems.setdefault(row.system_id, nowhere)["points"][column[row.tournament_id]] = row
    return list(systems.values())


def side_by_side(campaign: Campaign, criterion: str | None) -> tuple[list[Tournament], list[dict]]:
    """People's, the comparator's and the calibrated board of one criterion, those there are; and how far each two agree."""
    first = latest(campaign, JUDGE, criterion) or latest(campaign, PEOPLE, criterion)
    if first is None:
        return [], []
    boards = [board for basis in (PEOPLE, JUDGE, CORRECTED) if (board := latest(campaign, basis, first.criterion))]
    pairs = []
    for one, other in combinations(boards, 2):
        _, every, generated = agreement(one, other)
        pairs.append({"one": one, "other": other, "all": every, "generated": generated})
    return boards, pairs


def systems(campaign: Campaign, rows=None) -> list[System]:
    """All that ever took part, those that play first; `plays` and `texts` count outputs, `row` is on the newest board.

    rows: those of the campaign's systems that are asked for; None: all."""
    rows = campaign.systems if rows is None else rows
    plays = Count("outputs", filter=Q(outputs__replaced_at=None))
    found = list(rows.annotate(texts=Count("outputs"), plays=plays).order_by("name"))
    board = default_board(campaign)
    rows = {row.system_id: row for row in board.ratings.filter(games__gt=0)} if board else {}
    for system in found:
        system.row = rows.get(system.pk)
    return sorted(found, key=lambda s: (s.retired_at is not None, -s.row.rating if s.row else 0.0, s.name))


def boards_of(system: System) -> list[SystemRating]:
    """Its rows on the newest board of each judge and criterion."""
    every = choices(system.campaign)
    newest = [latest(system.campaign, basis, criterion, judge=judge) for basis, judge, criterion in every]
    boards = {board.pk: board for board in newest if board}
    found = SystemRating.objects.filter(tournament__in=boards, system=system, games__gt=0)
    rows = list(found.order_by("tournament__basis", "tournament__judge__name", "tournament__criterion"))
    for row in rows:
        row.tournament = boards[row.tournament_id]  # with its snapshot, whose content may be large, left out
    return rows


def versions_of(system: System) -> list[Any]:
    """Its sets of outputs, the newest first: {checkpoint, replaced_at, outputs, judged}."""
    found = Output.objects.filter(system=system).values("checkpoint__name", "replaced_at")
    is_scored = Exists(LikertScore.objects.filter(output=OuterRef("pk")))
    counted = found.annotate(outputs=Count("pk"), judged=Count("pk", filter=is_scored))
    return list(counted.order_by("-replaced_at", "-checkpoint"))

"""Several boards at once: over time, by criterion, side by side; and the systems that take part."""

from itertools import combinations
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q

from annotation.models import Campaign, Output, System
from annotation.questions import store
from leaderboard.boards.agreement import agreement
from leaderboard.boards.board import Board
from leaderboard.boards.queries import CORRECTED, JUDGE, PEOPLE, alone, choices, finished, latest, of_judge
from leaderboard.models import Tournament

SHOWN = 12  # boards in a history


def history(
    campaign: Campaign, basis: str, criterion: str, judge: str = ""
) -> tuple[list[Tournament], list[Board], list[dict]]:
    """The last tournaments of a judge and criterion, oldest first, their boards, and each system's rows on them.

    Systems as they stand on the newest board they were on: {name, system, points: Standing or None a board}.
    """
    found = of_judge(finished(campaign), basis, judge).filter(criterion=criterion, level=Tournament.Level.SYSTEM)
    played = list(found.defer("replicates", "head_to_head", "findings")[:SHOWN])[::-1]
    boards = [alone(one, live=True, today=one is played[-1]) for one in played]

    def newest_first(system: dict) -> tuple:
        last = max(i for i, row in enumerate(system["points"]) if row)
        return -last, -system["points"][last].rating

    return played, boards, sorted(_systems_on(boards), key=newest_first)


def by_criterion(campaign: Campaign, basis: str, judge: str = "") -> tuple[list[Board], list[dict]]:
    """The judge's newest board of each criterion, and each system's rows on them, best mean rating first."""
    criteria = [criterion for *judges, criterion in choices(campaign) if judges == [basis, judge]]
    newest = [latest(campaign, basis, criterion, judge=judge) for criterion in criteria]
    boards = [alone(one, live=True, today=True) for one in newest if one]

    def mean(system: dict) -> float:
        there = [row.rating for row in system["points"] if row]
        return sum(there) / len(there)

    return boards, sorted(_systems_on(boards), key=mean, reverse=True)


def _systems_on(boards: list[Board]) -> list[dict]:
    """{name, system, points: its row on each board, None where it is not or took no part}"""
    systems: dict[int, dict] = {}
    for i, board in enumerate(boards):
        for row in filter(lambda row: row.took_part, board.standings):
            nowhere = {"name": row.system, "system": row.id, "points": [None] * len(boards)}
            systems.setdefault(row.id, nowhere)["points"][i] = row
    return sorted(systems.values(), key=lambda system: system["name"])


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


def systems(campaign: Campaign, board: Board | None, rows=None) -> list[System]:
    """All that ever took part, those that play first; `plays` and `texts` count outputs, `row` is on the board.

    rows: those of the campaign's systems that are asked for; None: all."""
    rows = campaign.systems if rows is None else rows
    plays = Count("outputs", filter=Q(outputs__replaced_at=None))
    found = list(rows.annotate(texts=Count("outputs"), plays=plays).order_by("name"))
    rows = {row.id: row for row in board.standings if row.took_part} if board else {}
    for system in found:
        system.row = rows.get(system.pk)
    return sorted(found, key=lambda s: (s.retired_at is not None, -s.row.rating if s.row else 0.0, s.name))


def boards_of(system: System) -> list[dict[str, Any]]:
    """The newest board of each judge and criterion that it is on: {tournament, board, row: its own}."""
    every = choices(system.campaign)
    newest = [latest(system.campaign, basis, criterion, judge=judge) for basis, judge, criterion in every]
    boards = [(one, alone(one, live=True, today=True)) for one in newest if one]
    return [
        {"tournament": tournament, "board": board, "row": row}
        for tournament, board in boards
        for row in board.standings
        if row.id == system.pk and row.took_part
    ]


def versions_of(system: System) -> list[Any]:
    """Its sets of outputs, the newest first: {checkpoint, replaced_at, outputs, judged}."""
    found = Output.objects.filter(system=system).values("checkpoint__name", "replaced_at")
    is_scored = Exists(store.counted()[0].filter(output=OuterRef("pk")))
    counted = found.annotate(outputs=Count("pk"), judged=Count("pk", filter=is_scored))
    return list(counted.order_by("-replaced_at", "-checkpoint"))

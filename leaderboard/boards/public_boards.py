"""The boards that anybody may read, in short: who leads each, and how surely."""

from django.core.cache import cache
from django.db.models import Count, Exists, OuterRef, Subquery

from annotation.models import Campaign, Snapshot
from leaderboard.boards import wording
from leaderboard.boards.board import Board
from leaderboard.boards.cautions import cautions
from leaderboard.boards.queries import alone, default_board
from leaderboard.models import Tournament

KEPT = 600  # seconds that a board's few words are kept; a newer board, snapshot or mark has words of its own at once


def campaigns():
    """Public campaigns with a finished board, that of the newest board first. `board` and `frozen` name that and the newest
    snapshot, which decide together which board a leaderboard opens on; `marks` counts what became of snapshots later."""
    boards = Tournament.objects.filter(campaign=OuterRef("pk"), finished_at__isnull=False, level=Tournament.Level.SYSTEM)
    newest = boards.order_by("-finished_at", "-pk").values("pk")[:1]
    frozen = Snapshot.objects.filter(campaign=OuterRef("pk")).order_by("-accepted_at", "-pk").values("pk")[:1]
    public = Campaign.objects.filter(Exists(boards), deleted_at=None, board_is_public=True)
    marks = Count("snapshots__marks", distinct=True)
    return public.annotate(board=Subquery(newest), frozen=Subquery(frozen), marks=marks).order_by("-board", "-pk")


def summaries(listed) -> list[dict]:
    """Of each campaign (of `campaigns`): what `summary` says, with `campaign`."""
    keys = {f"public-board:{c.pk}:{c.board}:{c.frozen}:{c.marks}": c for c in listed}
    known = cache.get_many(keys)
    fresh = {key: summary(campaign) for key, campaign in keys.items() if key not in known}
    cache.set_many(fresh, KEPT)
    return [{**(known | fresh)[key], "campaign": campaign} for key, campaign in keys.items()]


def summary(campaign: Campaign) -> dict:
    """Of the board that the campaign's leaderboard opens on: `in_short`, and when it was played."""
    opened = default_board(campaign)
    assert opened is not None  # `campaigns` lists those that have one
    return {**in_short(alone(opened, live=True, today=True)), "played": opened.finished_at}


def in_short(board: Board) -> dict:
    """systems, and what it rests on: judgments of people, or games; simulated, judge; headline, with the first system's
    rating, low and high, empty where nobody was compared; and cautions."""
    people = board.basis.people
    judgments = people.answers if people and people.answers is not None else None
    first = board.standings[0] if board.standings else None
    return {
        "systems": len(board.standings),
        "rests_on": board.provenance.rests_on if judgments is None else judgments,
        "thing": "game" if judgments is None else "judgment",
        "simulated": board.basis.simulated,
        "judge": wording.judged_by(board),
        "question": wording.question(board),
        "headline": wording.headline(board),
        "cautions": [one.text for one in cautions(board)],
        **({"rating": first.rating, "low": first.low, "high": first.high} if first else {}),
    }

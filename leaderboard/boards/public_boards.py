"""The boards that anybody may read, in short: who leads each, and how surely."""

from django.core.cache import cache
from django.db.models import Exists, OuterRef, Subquery

from annotation.models import Campaign, Snapshot
from leaderboard.boards.queries import default_board, gate, judge_label, neighbours
from leaderboard.models import Tournament

KEPT = 600  # seconds that a board's few words are kept; a newer board or snapshot has words of its own at once


def campaigns():
    """Public campaigns with a finished board, that of the newest board first. `board` and `frozen` name that and the newest
    snapshot, which decide together which board a leaderboard opens on."""
    boards = Tournament.objects.filter(campaign=OuterRef("pk"), finished_at__isnull=False, level=Tournament.Level.SYSTEM)
    newest = boards.order_by("-finished_at", "-pk").values("pk")[:1]
    frozen = Snapshot.objects.filter(campaign=OuterRef("pk")).order_by("-accepted_at", "-pk").values("pk")[:1]
    public = Campaign.objects.filter(Exists(boards), deleted_at=None, board_is_public=True)
    return public.annotate(board=Subquery(newest), frozen=Subquery(frozen)).order_by("-board", "-pk")


def summaries(listed) -> list[dict]:
    """Of each campaign (of `campaigns`): what `summary` says, with `campaign`."""
    keys = {f"public-board:{c.pk}:{c.board}:{c.frozen}": c for c in listed}
    known = cache.get_many(keys)
    fresh = {key: summary(campaign) for key, campaign in keys.items() if key not in known}
    cache.set_many(fresh, KEPT)
    return [{**(known | fresh)[key], "campaign": campaign} for key, campaign in keys.items()]


def summary(campaign: Campaign) -> dict:
    """Of the board that the campaign's leaderboard opens on: systems, judgments (answers of people that its snapshot keeps),
    played, simulated, judge; and `leader` {name, human, rating, low, high, next, known}, None where nobody was rated."""
    board = default_board(campaign)
    assert board is not None  # `campaigns` lists those that have one
    rows = list(board.ratings.select_related("system"))
    first = next(iter(neighbours(board, live=True)), None)
    leader = rows[0] if rows else None
    return {
        "systems": len(rows),
        "judgments": board.snapshot.scores + board.snapshot.judgments if board.snapshot else 0,
        "played": board.finished_at,
        "simulated": board.is_simulated,
        "judge": judge_label(board),
        "gate": gate(board),
        "leader": leader
        and {
            "name": leader.system.name,
            "human": leader.is_human,
            "rating": leader.rating,
            "low": leader.low,
            "high": leader.high,
            "next": first["lower"] if first else "",
            "known": bool(first and first["above"]),
        },
    }

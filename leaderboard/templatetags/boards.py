"""How a board's numbers are written on a page."""

from django import template

from leaderboard.boards import charts
from leaderboard.boards.exports import chance_in_percent
from leaderboard.boards.queries import asked_by, judge_label, link_label, with_lines

register = template.Library()

ENDINGS = {
    "settled": "by its rule",
    "asked": "after the requested number of games",
    "all": "every pair was compared on every context",
    "limit": "at the limit, before the stopping rule was met",
}


@register.filter
def ranks(row) -> str:
    """A rank interval: 2, or 2–4. row: a standing as JSON, or a SystemRating."""
    low, high = (row[k] if isinstance(row, dict) else getattr(row, k) for k in ("rank_low", "rank_high"))
    return "–" if low is None else str(low) if low == high else f"{low}–{high}"


@register.filter
def chance(share) -> str:
    return chance_in_percent(share)


@register.filter
def lines(standings) -> list:
    return with_lines(standings)


@register.filter
def say(standings, key: str) -> bool:
    """Does any system have it?"""
    return any(row.get(key) is not None for row in standings)


@register.filter
def points(cell) -> float | None:
    """[won, tied, lost] as the share of the points; None where nothing was played."""
    return (cell[0] + cell[1] / 2) / sum(cell) if cell and sum(cell) else None


@register.filter
def heat(share) -> str:
    return charts.heat(share)


@register.filter
def percent(share) -> str:
    return "–" if share is None else f"{100 * share:.0f}%"


@register.filter
def signed_percent(share) -> str:
    """A difference of two shares, in percentage points."""
    return "–" if share is None else f"{100 * share:+.0f}".replace("-", "−")


@register.filter
def excerpt(turns: list[str], most: int = 90) -> str:
    """What a context is recognised by: its last turn."""
    text = " ".join((turns[-1] if turns else "").split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


@register.filter
def rating_heat(row) -> str:
    """The class of a cell that holds a rating: coloured only where its interval leaves out 1500, the mean of all."""
    if not row:
        return ""
    rating, low, high = (row[k] if isinstance(row, dict) else getattr(row, k) for k in ("rating", "low", "high"))
    return charts.heat(0.5 + (rating - 1500) / 800) if low > 1500 or high < 1500 else ""


@register.filter
def ending(board: dict) -> str:
    """How a tournament came to its end."""
    if board["basis"] == "people":
        return (
            ENDINGS["asked"] if board["ending"] == "asked" else "every answer counts" if board["people"] else "every game once"
        )
    return ENDINGS.get(board["ending"], "settled" if board["settled"] else "not settled")


@register.filter
def judge_name(tournament) -> str:
    """Short, for links."""
    return link_label(*asked_by(tournament))


@register.filter
def judged_by(tournament) -> str:
    return judge_label(tournament)

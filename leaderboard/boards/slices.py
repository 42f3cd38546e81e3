"""A board on the contexts of one category alone, where their metadata name one."""

from dataclasses import dataclass, replace

from leaderboard.boards.board import Board
from leaderboard.boards.panels import CategoryCell
from leaderboard.boards.wording import counted


@dataclass(frozen=True)
class Slice:
    """key: a field of the contexts' metadata; value: of it; contexts: how many have it."""

    key: str
    value: str
    contexts: int

    def __str__(self) -> str:
        return f"{self.key}: {self.value}"


def slices(board: Board) -> list[Slice]:
    """All that the board knows of."""
    return [Slice(one.key, value.value, value.contexts) for one in board.categories for value in one.values]


def asked_slice(board: Board, name: str) -> Slice | None:
    """The one of this name (`str`), or None."""
    return next((one for one in slices(board) if str(one) == name), None)


def on_slice(board: Board, of: Slice) -> Board:
    """Its standings by the ratings on these contexts, best first; what is known of all contexts alone is left out."""
    cells = _cells(board, of)
    rows = [
        replace(row, **vars(cells[row.system]), own=None, best=None, cluster=None)
        for row in board.standings
        if row.system in cells
    ]
    return replace(board, standings=tuple(sorted(rows, key=lambda row: -row.rating)), differences=(), narrow=None)


def _cells(board: Board, of: Slice) -> dict[str, CategoryCell]:
    category = next(one for one in board.categories if one.key == of.key)
    place = [value.value for value in category.values].index(of.value)
    return {row.system: cell for row in category.systems if (cell := row.cells[place])}


def headline(board: Board, of: Slice) -> str:
    """Who has the highest rating on these contexts. board: of `on_slice`."""
    if not board.standings:
        return f"Nobody was rated on {of} alone."
    first, many = board.standings[0], "1 context" if of.contexts == 1 else f"{of.contexts:,} contexts"
    return (
        f"On {of} ({many}), {first.system} has the highest rating, {first.rating:.0f} ({first.low:.0f} to {first.high:.0f})."
        f" Only {counted(board).lower()} on these contexts count here."
    )

"""Rankings from the judgments of their pairs, as which they are kept."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leaderboard.rating.rankings.plackett_luce import MOST

Integers = NDArray[np.int64]
Judged = tuple[int, int, int]  # first output, second, +1, 0 or -1


@dataclass(frozen=True)
class FromPairs:
    """ranking, output, rank: int (places,), as in `plackett_luce.Rankings`; is_open: bool (rankings,); judgment: int
    (rankings,), one of the judgments of each."""

    ranking: Integers
    output: Integers
    rank: Integers
    is_open: NDArray[np.bool_]
    judgment: Integers


def rankings_from_pairs(
    first: ArrayLike, second: ArrayLike, outcome: ArrayLike, sheet: ArrayLike, system_of: ArrayLike
) -> FromPairs:
    """All int (judgments,): outputs, +1 the first is better, 0 a tie, -1 the second is; sheet: the ranking that a judgment
    belongs to, -1 where it was given alone. system_of: int (outputs,).

    A judgment alone is a ranking of two. Outputs of one ranking that no judgment compares share a place whose order was not
    asked. What is no order (a pair of it is missing that cannot be one of these, or it was changed) is read as its pairs."""
    judged = list(zip(*(np.asarray(one, dtype=np.int64).tolist() for one in (first, second, outcome)), strict=True))
    systems, sheets = np.asarray(system_of).tolist(), defaultdict(list)
    for row, number in enumerate(np.asarray(sheet).tolist()):
        sheets[number if number >= 0 else -1 - row].append(row)
    places: list[tuple[int, int, int]] = []
    is_open: list[bool] = []
    judgment: list[int] = []
    for rows in sheets.values():
        for part, ranks, opened in _parts(rows, judged, systems):
            places += [(len(judgment), output, rank) for output, rank in ranks.items()]
            judgment.append(part)
            is_open.append(opened)
    ranking, output, rank = np.array(places, dtype=np.int64).reshape(-1, 3).T
    return FromPairs(ranking, output, rank, np.array(is_open, dtype=bool), np.array(judgment, dtype=np.int64))


def _parts(rows: Sequence[int], judged: Sequence[Judged], systems: Sequence[int]) -> Iterator[tuple[int, dict[int, int], bool]]:
    """(one judgment, {output: rank}, was the order of those that share a place not asked?)"""
    if (order := _order([judged[row] for row in rows], systems)) is not None:
        yield rows[0], *order
        return
    for row in rows:
        a, b, outcome = judged[row]
        yield row, {a: -outcome, b: 0}, False


def _order(pairs: Sequence[Judged], systems: Sequence[int]) -> tuple[dict[int, int], bool] | None:
    """({output: rank}, whether pairs are missing); None where the pairs are no order."""
    points: dict[int, int] = defaultdict(int)  # two for a win, one for a tie
    for a, b, outcome in pairs:
        points[a] += 1 + outcome
        points[b] += 1 - outcome
    n = len(points)
    if (
        not 2 <= n <= MOST
        or len({systems[output] for output in points}) < n
        or len({frozenset(p[:2]) for p in pairs}) < len(pairs)
    ):
        return None
    missing = n * (n - 1) // 2 - len(pairs)
    alike = [points[a] == points[b] for a, b, _ in pairs]
    fits = all(np.sign(points[a] - points[b]) == outcome for a, b, outcome in pairs)
    shared = sum(points[a] == points[b] for a in points for b in points if a < b)
    if not fits or (missing and (any(alike) or shared != missing)):
        return None
    return {output: -had for output, had in points.items()}, missing > 0

"""Playing a tournament: draw a batch of games, let the judge decide them, go on until the rule for its end is met.

Zhou & Xu (2020), section 3.2, with each choice a setting (`rules`). What is drawn depends on the seed and on the games
before the batch, on nothing else, so a tournament that was interrupted goes on as if it had not been.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.rating.games import Games
from leaderboard.rating.pairing import Cells
from leaderboard.rating.rules import DEFAULT, Rules
from leaderboard.rating.stop_rules import OrderKept, Parted

BATCH = 20  # games drawn and judged together; the active rule learns after each
MAX_GAMES = 10_000

Draw = Callable[[Games, int], np.ndarray]  # the games before a batch, its number -> cells (games of the batch,)
Judge = Callable[[np.ndarray, np.ndarray, np.ndarray, np.random.Generator], Sequence[int]]


@dataclass(frozen=True)
class PlayedGames:
    """ending: "settled" by the rules' stop, "asked" as many games as were wanted, "all" there are, or the "limit";
    looks: at how many moments the tournament might have ended (`ranking.compare` asks)."""

    games: Games
    ending: str
    looks: int = 1


def run(
    n_systems: int,
    contexts_by_pair: Mapping[tuple[int, int], Sequence[int]],
    judge: Judge,
    rules: Rules = DEFAULT,
    seed: int = 0,
    games: int | None = None,
    max_games: int = MAX_GAMES,
    so_far: Games | None = None,
    on_batch: Callable[[Games, int], None] | None = None,
    groups: ArrayLike | None = None,
) -> PlayedGames:
    """Play until the rules' stop, at most `max_games`; or exactly `games`, if given.

    contexts_by_pair: the contexts that both systems of a pair (i, j), i < j, have answered; a pair without any is never
    drawn. judge(first, second, context, rng): +1, 0 or -1 for each game of a batch; the same batch comes with the same
    random stream. so_far: the games of an interrupted tournament with the same settings. on_batch(games so far, at
    most) is called after each batch; what it raises ends the tournament. groups: int (contexts,), of contexts that are not
    independent.
    """
    if n_systems < 2:
        raise ValueError("A tournament needs at least two systems.")
    cells = Cells(n_systems, contexts_by_pair, seed)
    draw, drawable = _drawing(cells, rules, seed)
    most = max_games if games is None else games
    limit = most if drawable is None else min(drawable, most)
    stop = _Never() if games is not None else _stop(cells, limit, rules, groups)
    played = Games.none() if so_far is None else so_far
    while (end := stop.ended(played)) is None and len(played) < limit:
        played = _with_batch(played, cells, draw, judge, seed, limit)
        if on_batch:
            on_batch(played, limit)
    if end is not None:
        return PlayedGames(played.take(slice(end)), "settled", stop.looks)
    ending = "asked" if len(played) == games else "all" if len(played) == drawable else "limit"
    return PlayedGames(played, ending, stop.looks)


def _drawing(cells: Cells, rules: Rules, seed: int) -> tuple[Draw, int | None]:
    """How to draw batch k given the games before it, and how many games there are to draw; None where they never end."""
    if rules.pairing == "again":
        return (lambda before, k: cells.again(np.random.default_rng([seed, 2, k]), BATCH)), None
    if rules.pairing == "active":
        return (lambda before, k: cells.most_telling(before, BATCH, np.random.default_rng([seed, 2, k]))), len(cells)
    order = cells.in_turn(seed) if rules.pairing == "round-robin" else cells.shuffled(seed)
    return (lambda before, k: order[k * BATCH : (k + 1) * BATCH]), len(cells)


def _stop(cells: Cells, limit: int, rules: Rules, groups: ArrayLike | None) -> _Never | OrderKept | Parted:
    if rules.stop == "all":
        return _Never()
    if rules.stop == "order":
        return OrderKept(cells, rules)
    return Parted(cells, limit, rules, groups)


class _Never:
    looks = 1

    def ended(self, games: Games) -> None:
        return None


def _with_batch(played: Games, cells: Cells, draw: Draw, judge: Judge, seed: int, limit: int) -> Games:
    """The games so far and the rest of their batch. A batch that was cut short is drawn and judged again as a whole."""
    k = len(played) // BATCH
    before, begun = played.take(slice(k * BATCH)), played.take(slice(k * BATCH, None))
    drawn = draw(before, k)
    sides = cells.pairs[cells.pair[drawn]]  # (batch, 2)
    flipped = np.random.default_rng([seed, 3, k]).random(len(drawn)) < 0.5
    sides[flipped] = sides[flipped, ::-1]
    first, second = sides.T
    context = cells.context[drawn]
    outcome = _checked(judge(first, second, context, np.random.default_rng([seed, 4, k])), len(drawn))
    batch = Games(first, second, outcome, context)
    if not begun.same_as(batch.take(slice(len(begun)))):
        raise ValueError("The games so far were not played with these systems, contexts, settings and judge.")
    return before.then(batch).take(slice(limit))


def _checked(outcomes: ArrayLike, size: int) -> np.ndarray:
    """The judge's answers; an answer that is none must not become a tie."""
    outcomes = np.asarray(outcomes)
    if outcomes.shape != (size,) or not np.isin(outcomes, (-1, 0, 1)).all():
        raise ValueError(f"The judge must answer +1, 0 or -1 for each of {size} games, not {outcomes!r}.")
    checked: np.ndarray = outcomes.astype(np.int64)
    return checked

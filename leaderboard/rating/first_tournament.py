"""The first tournament loop, one game at a time; `tournament.run` replaces it and it goes once nothing calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from leaderboard.rating.by_game import DRAW_RATIO, _standings, newcomers, rate, record
from leaderboard.rating.games import Games, Standings

__all__ = ["DRAW_RATIO", "play", "rate"]
MIN_SELECTIONS = 50
PROGRESS_EVERY = 50
Judge = Callable[[int, int, int, np.random.Generator], int]


def play(
    n_systems: int,
    contexts_by_pair: Mapping[tuple[int, int], Sequence[int]],
    judge: Judge,
    seed: int = 0,
    games: int | None = None,
    min_selections: int = MIN_SELECTIONS,
    max_games: int = 5000,
    draw_ratio: float = DRAW_RATIO,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[Games, Standings, bool]:
    """Play until the order settles, at most `max_games`; or exactly `games`, if given.

    contexts_by_pair: the contexts that both systems of a pair (i, j), i < j, have answered; a pair without any is never
    drawn. judge(first, second, context, rng) says +1, 0 or -1, and gets a random stream of its own, so that the same
    seed draws the same pairs whatever the judge does. on_progress(played, at most) is called now and then.

    Settled: the order is the same at the end of two consecutive blocks, where a block ends when every system that can
    play was chosen at least `min_selections` times since the one before.
    """
    if n_systems < 2:
        raise ValueError("A tournament needs at least two systems.")
    pairs = _playable(n_systems, contexts_by_pair)
    able = sorted({system for i, j, _ in pairs for system in (i, j)})
    draw_rng, judge_rng = (np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(2))

    limit = max_games if games is None else games
    players, played, blocks = newcomers(n_systems), [], _Blocks(able, min_selections)
    while len(played) < limit and not (games is None and blocks.settled):
        first, second, context = _draw(pairs, draw_rng)
        outcome = _checked(judge(first, second, context, judge_rng))
        record(players, first, second, outcome, draw_ratio)
        played.append((first, second, outcome, context))
        blocks.add(first, second, players)
        if on_progress and len(played) % PROGRESS_EVERY == 0:
            on_progress(len(played), limit)
    if on_progress:
        on_progress(len(played), limit)
    kept = Games(*np.array(played, dtype=np.int64).reshape(-1, 4).T)
    return kept, _standings(players, kept), blocks.settled


class _Blocks:
    """Counts who was chosen since the last block ended, and compares the order at the ends of blocks."""

    def __init__(self, able: list[int], min_selections: int):
        self.able, self.min_selections = able, min_selections
        self.settled, self._order = False, None
        self._start()

    def _start(self):
        self._missing = dict.fromkeys(self.able, self.min_selections) if self.min_selections > 0 else {}

    def add(self, first: int, second: int, players: list) -> None:
        for system in (first, second):
            left = self._missing.get(system, 0) - 1
            if left > 0:
                self._missing[system] = left
            else:
                self._missing.pop(system, None)
        if not self._missing:
            order = sorted(self.able, key=lambda system: -players[system][0])
            self.settled, self._order = order == self._order, order
            self._start()


def _playable(n_systems: int, contexts_by_pair) -> list[tuple[int, int, list[int]]]:
    """The pairs that share a context, in a fixed order, so that a seed means the same everywhere."""
    if any(not 0 <= i < j < n_systems for i, j in contexts_by_pair):
        raise ValueError(f"A pair must be two of the {n_systems} systems, the lower number first.")
    pairs = [(i, j, list(contexts)) for (i, j), contexts in sorted(contexts_by_pair.items()) if len(contexts)]
    if not pairs:
        raise ValueError("No two systems have answered the same context, so no game can be played.")
    return pairs


def _draw(pairs, rng: np.random.Generator) -> tuple[int, int, int]:
    """A random playable pair on random sides, and one of its contexts."""
    i, j, contexts = pairs[rng.integers(len(pairs))]
    context = contexts[rng.integers(len(contexts))]
    return (i, j, context) if rng.random() < 0.5 else (j, i, context)


def _checked(outcome: int) -> int:
    """The judge's answer; an answer that is none must not become a tie."""
    if outcome not in (-1, 0, 1):
        raise ValueError(f"The judge must answer +1, 0 or -1, not {outcome!r}.")
    return int(outcome)

"""How each output does against the others of its context, by people and by the comparator, and where those two part."""

from dataclasses import dataclass

import numpy as np

from evaluator.judges.protocol import Verdicts, has_read
from leaderboard.rating.games import Games
from leaderboard.tournaments.entrants import Entrants


@dataclass(frozen=True)
class Shares:
    """A share is points over games (a win 1, a tie a half); NaN where there is no game."""

    comparator: np.ndarray  # (outputs,) expected, against every output of another system that the judge has read it beside
    people: np.ndarray  # (outputs,)
    people_games: np.ndarray  # (outputs,)
    context_games: np.ndarray  # (contexts,) people's
    disagreement: np.ndarray  # (contexts,) mean |comparator's expected points - people's|, over people's games


def shares(entrants: Entrants, people: Games, verdicts: Verdicts | None) -> Shares:
    """people: their games between outputs; verdicts: None where no comparator judges."""
    n, contexts = len(entrants.outputs), len(entrants.contexts)
    points = (1 + people.outcome) / 2
    theirs, count = _share(n, people.first, people.second, points)
    nothing = np.full(n, np.nan)
    games = np.bincount(people.context, minlength=contexts)
    if verdicts is None:
        return Shares(nothing, theirs, count, games, np.full(contexts, np.nan))
    ids = np.array([output.pk for output in entrants.outputs])
    a, b = meetings(entrants)
    read = has_read(verdicts, ids[a].tolist(), ids[b].tolist())
    a, b = a[read], b[read]
    ours, _ = _share(n, a, b, _expected(entrants, verdicts, a, b))
    read = has_read(verdicts, ids[people.first].tolist(), ids[people.second].tolist())
    both, points = people.take(read), points[read]
    apart = np.abs(_expected(entrants, verdicts, both.first, both.second) - points)
    common = np.bincount(both.context, minlength=contexts)
    return Shares(ours, theirs, count, games, _mean(np.bincount(both.context, apart, contexts), common))


def meetings(entrants: Entrants) -> tuple[np.ndarray, np.ndarray]:
    """Every two outputs of different systems on one context, once: two int arrays of output numbers."""
    order = np.lexsort((np.arange(len(entrants.outputs)), entrants.context_of))
    context, system = entrants.context_of[order], entrants.system_of[order]
    lefts, rights = [order[:0]], [order[:0]]
    for k in range(1, len(order)):
        together = context[:-k] == context[k:]
        if not together.any():
            break
        apart = np.flatnonzero(together & (system[:-k] != system[k:]))
        lefts.append(order[apart])
        rights.append(order[apart + k])
    return np.concatenate(lefts), np.concatenate(rights)


def _expected(entrants: Entrants, verdicts: Verdicts, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) the points that the comparator expects a to take from b."""
    ids = [output.pk for output in entrants.outputs]
    if len(a) == 0:
        return np.empty(0)
    chances = np.asarray(verdicts.probabilities([ids[i] for i in a], [ids[i] for i in b]))
    return chances[:, 0] + chances[:, 1] / 2


def _share(n: int, a: np.ndarray, b: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    both = np.concatenate([a, b])
    count = np.bincount(both, minlength=n)
    return _mean(np.bincount(both, np.concatenate([points, 1 - points]), n), count), count


def _mean(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)

"""A judge's comparisons turned into scores of outputs, in the three ways of Zhou & Xu (2020, section 4.2, RQ1 and RQ2).

- "points": each output meets 50 common machine-written references; 3 points for a win, 1 for a tie, 0 for a loss.
- "sample rating": each output is a player that always says the same; 10,000 games between players drawn at random.
- "system rating": systems play until their order stays the same, and each output has the rating of its system. It tells the
  outputs of one system from each other in nothing, so only its figures over systems mean what the paper's do.

The mean over a system's outputs is the paper's model-level score in each. In the first two, outputs of different contexts meet;
a judge of pairs reads them in both contexts (`judge.across_contexts`). Ratings are the paper's: Glicko-2 game by game, ties by
ratio (`rules.PAPER`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.judges.protocol import Judge, Numbers, OnProgress, Preferences, across_contexts, pairs_of, preferences
from evaluator.judges.texts import Text, context_key, place_of
from leaderboard.rating import sample_scores, tournament
from leaderboard.rating.games import Games
from leaderboard.rating.rules import PAPER, standings

WAYS = ("points", "sample rating", "system rating")


@dataclass(frozen=True)
class Contestants:
    """What plays: n outputs."""

    texts: Sequence[Text]
    human: Numbers  # (n,) bool, written by a person: no reference, but judged
    systems: Numbers  # (n,) numbers from 0


@dataclass(frozen=True)
class Scored:
    scores: Numbers  # (n,) higher is better
    games: int  # that count
    read: int  # what it cost: outputs that a pointwise judge read, or pairs that a pairwise one did, of one context each


def scored(
    way: str,
    judge: Judge,
    field: Contestants,
    seed: int = 0,
    plays: int = sample_scores.PLAYS,
    references: int = sample_scores.REFERENCES,
    on_progress: OnProgress | None = None,
) -> Scored:
    """way: one of WAYS. plays, references: how many games of the second and references of the first. Raises ValueError where
    there are too few outputs, or systems that answered the same contexts, to play."""
    if way == "points":
        return _points(judge, field, seed, references, on_progress)
    if way == "sample rating":
        return _sample_rating(judge, field, seed, plays, on_progress)
    if way == "system rating":
        return _system_rating(judge, field, seed, on_progress)
    raise ValueError(f"There is no way {way!r}; there are {', '.join(WAYS)}.")


def _points(judge: Judge, field: Contestants, seed: int, references: int, on_progress: OnProgress | None) -> Scored:
    machine = ~np.asarray(field.human, dtype=bool)
    output, reference = sample_scores.reference_pairs(machine if machine.any() else ~machine, references, seed)
    outcome, read = _decided(judge, field.texts, output, reference, on_progress)
    return Scored(sample_scores.reference_scores(len(field.texts), output, outcome), len(output), read)


def _sample_rating(judge: Judge, field: Contestants, seed: int, plays: int, on_progress: OnProgress | None) -> Scored:
    n = len(field.texts)
    a, b = sample_scores.sample_pairs(n, plays, seed)
    outcome, read = _decided(judge, field.texts, a, b, on_progress)
    games = Games(a, b, outcome, np.zeros(len(a), dtype=np.int64))
    return Scored(standings(n, games, PAPER).rating, len(games), read)


def _system_rating(judge: Judge, field: Contestants, seed: int, on_progress: OnProgress | None) -> Scored:
    """Every two outputs of a context are read before the first game, of which any may be drawn. A system that wrote several
    outputs for a context plays with the first."""
    _, contexts = np.unique([place_of(text) for text in field.texts], return_inverse=True)
    cell: dict[tuple[int, int], int] = {}
    for i, key in enumerate(zip(field.systems.tolist(), contexts.tolist())):
        cell.setdefault(key, i)
    players = set(cell.values())
    pairs = [(i, j) for i, j in zip(*(side.tolist() for side in pairs_of(field.texts))) if i in players and j in players]
    place = {pair: row for row, pair in enumerate(pairs)}
    a, b = np.array(pairs, dtype=int).reshape(-1, 2).T
    outcomes = preferences(judge, field.texts, a, b, on_progress).outcomes if pairs else np.empty(0, dtype=int)
    met: dict[tuple[int, int], list[int]] = {}
    for i, j in pairs:
        sides = sorted((int(field.systems[i]), int(field.systems[j])))
        met.setdefault((sides[0], sides[1]), []).append(int(contexts[i]))

    def decide(first: Numbers, second: Numbers, context: Numbers, rng: np.random.Generator) -> list[int]:
        sides = [(cell[x, c], cell[y, c]) for x, y, c in zip(first.tolist(), second.tolist(), context.tolist())]
        return [int(outcomes[place[i, j]] if i < j else -outcomes[place[j, i]]) for i, j in sides]

    n_systems = int(field.systems.max()) + 1
    played = tournament.run(n_systems, met, decide, PAPER, seed).games
    rating = standings(n_systems, played, PAPER).rating
    return Scored(rating[field.systems], len(played), _read(judge, field.texts, len(pairs)))


def _decided(
    judge: Judge, texts: Sequence[Text], a: Numbers, b: Numbers, on_progress: OnProgress | None
) -> tuple[Numbers, int]:
    """(games,) +1, 0, -1 as a (games,) did against b (games,), positions among the texts; and what was read."""
    if judge.kind == "pointwise":
        return preferences(judge, texts, a, b, on_progress).outcomes, _read(judge, texts, 0)
    pairs, which = np.unique(np.stack([np.minimum(a, b), np.maximum(a, b)]), axis=1, return_inverse=True)  # (2, p), (games,)
    keys = np.array([context_key(text.context) for text in texts])
    apart = keys[pairs[0]] != keys[pairs[1]]  # (p,)
    outcome = np.empty(len(apart), dtype=np.int64)
    for rows, ask in ((~apart, judge.compare), (apart, lambda x, y, **how: across_contexts(judge, x, y, **how))):
        if rows.any():
            sides = [[texts[i] for i in side[rows]] for side in pairs]
            said: Preferences = ask(sides[0], sides[1], on_progress=on_progress)
            outcome[rows] = said.outcomes
    return np.where(a < b, 1, -1) * outcome[which.ravel()], len(apart) + int(apart.sum())


def _read(judge: Judge, texts: Sequence[Text], pairs: int) -> int:
    return len(set(texts)) if judge.kind == "pointwise" else pairs

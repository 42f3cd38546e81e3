"""What people say of pairs of texts, from their scores and their judgments."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from evaluator.judges.texts import Text, place_of
from evaluator.metaevaluation.crossed import PairSaid, said_by_choices, said_by_scores

# Two means of different people are called a tie when they lie closer than this share of the scale
# (0.25 points on a scale from 1 to 5). Our choice: no annotator compared the two, so a small gap says little.
TIE_SHARE = 1 / 16
BY_PEOPLE = ("scores", "judgments")  # the sources of pairs that a comparator is measured on


@dataclass(frozen=True)
class JudgedPair:
    """What people say of two texts of one context; `a` and `b` are positions in a list of Text."""

    a: int
    b: int
    target: tuple[float, float, float]  # P(A better), P(tie), P(B better); sums to 1
    weight: float  # how many people compared the two (1 where only means were compared)
    source: str = "scores"  # "scores" | "judgments" | "strong" | "weak" | "dialogues"
    margin: float = 1.0  # of weak supervision: the share of the training that lies between the two checkpoints
    criterion: int = 0  # which of the comparator's criteria it speaks of
    said: tuple[PairSaid, ...] = field(default=(), compare=False)  # by whom; empty where nobody is known

    @property
    def choice(self) -> str:
        """The side most people prefer; "tie" unless one side beats both the other side and the tie."""
        p_a, p_tie, p_b = self.target
        return "A" if p_a > max(p_tie, p_b) else "B" if p_b > max(p_tie, p_a) else "tie"


def as_arrays(pairs: Sequence[JudgedPair]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """a (p,), b (p,), targets (p, 3), weights (p,)"""
    a, b = np.array([(pair.a, pair.b) for pair in pairs], dtype=int).reshape(-1, 2).T
    targets = np.array([pair.target for pair in pairs], dtype=float).reshape(-1, 3)
    return a, b, targets, np.array([pair.weight for pair in pairs], dtype=float)


def pairs_from_scores(
    rows: Iterable[tuple[int, str, float]], texts: Sequence[Text], scale: tuple[float, float] | None = None
) -> list[JudgedPair]:
    """All pairs of scored texts that share a context.

    rows   (text_index, annotator, score); a second score of one annotator for one text replaces the first
    scale  (lowest, highest) score; default: the lowest and highest in `rows`
    Each annotator who scored both texts gives one vote: the higher score, or a tie when equal. Where nobody scored
    both, the means are compared, and closer than TIE_SHARE of the scale is a tie.
    """
    scores: dict[int, dict[str, float]] = defaultdict(dict)
    for text, annotator, score in rows:
        scores[text][annotator] = float(score)
    if not scores:
        return []
    every = [score for given in scores.values() for score in given.values()]
    low, high = scale or (min(every), max(every))
    groups: dict[str, list[int]] = defaultdict(list)
    for text in sorted(scores):
        groups[place_of(texts[text])].append(text)
    margin = TIE_SHARE * (high - low)
    met = [(a, b, scores[a], scores[b]) for group in groups.values() for a, b in combinations(group, 2)]
    return [_pair(a, b, _votes(of_a, of_b, margin), said=said_by_scores(of_a, of_b, margin)) for a, b, of_a, of_b in met]


def pairs_from_judgments(rows: Iterable[tuple[int, int, str, str]]) -> list[JudgedPair]:
    """One pair for every two texts that were judged; rows are (a, b, annotator, "A" | "tie" | "B"), in either order."""
    votes: dict[tuple[int, int], dict[str, str]] = defaultdict(dict)
    for a, b, annotator, choice in rows:
        if choice not in ("A", "tie", "B"):
            raise ValueError(f'A choice is "A", "tie" or "B", not {choice!r}.')
        if a == b:
            raise ValueError(f"Text {a} is compared with itself.")
        if a > b:
            a, b, choice = b, a, {"A": "B", "tie": "tie", "B": "A"}[choice]
        votes[a, b][annotator] = choice
    return [_pair(a, b, list(by.values()), "judgments", said_by_choices(by)) for (a, b), by in sorted(votes.items())]


def mean_scores(rows: Iterable[tuple[int, str, float]], count: int, scale: tuple[float, float] | None = None) -> list[float]:
    """The mean score of each of `count` texts, from 0 (lowest of the scale) to 1; NaN where nobody scored."""
    given: dict[int, dict[str, float]] = defaultdict(dict)
    for text, annotator, score in rows:
        given[text][annotator] = float(score)
    every = [score for scores in given.values() for score in scores.values()]
    low, high = scale or ((min(every), max(every)) if every else (0.0, 1.0))
    span = (high - low) or 1.0
    return [(sum(g.values()) / len(g) - low) / span if (g := given.get(i)) else float("nan") for i in range(count)]


def _votes(a: dict[str, float], b: dict[str, float], margin: float) -> list[str]:
    both = sorted(a.keys() & b.keys())
    if both:
        return [_side(a[annotator] - b[annotator], 0.0) for annotator in both]
    return [_side(sum(a.values()) / len(a) - sum(b.values()) / len(b), margin)]


def _side(difference: float, margin: float) -> str:
    if difference == 0 or abs(difference) < margin:
        return "tie"
    return "A" if difference > 0 else "B"


def _pair(a: int, b: int, votes: list[str], source: str = "scores", said: tuple[PairSaid, ...] = ()) -> JudgedPair:
    count = len(votes)
    shares = (votes.count("A") / count, votes.count("tie") / count, votes.count("B") / count)
    return JudgedPair(a, b, shares, float(count), source, said=said)

"""What makes contexts or answers depend on each other although nobody said so: copies, topics, and scores that are ranks."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)
Text = TypeVar("Text", bound=Hashable)

DRAWS = 199  # permutations: the smallest p is 1 / 200
LEAST_SETS = 10  # an annotator's scores of a context's outputs, from which sums tell something
CONSTANT = 0.95  # share of sets with the commonest sum


def plain(text: str) -> str:
    """A text without what two copies may differ in: case, spaces, punctuation, and how signs are coded."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum())


def copies(keys: Sequence[Key], texts: Mapping[Key, Text]) -> list[list[Key]]:
    """The keys that share a text with others, in their order, each group by itself."""
    groups: dict[Text, list[Key]] = {}
    for key in keys:
        groups.setdefault(texts[key], []).append(key)
    return [group for group in groups.values() if len(group) > 1]


def field_p(moves: Floats, values: Sequence[Hashable], seed: int = 0) -> float | None:
    """Chance that contexts which share a value of a field are as alike as they are if the field says nothing: a permutation
    test (Phipson & Smyth 2010) of how far contexts with one value move the systems' means together. None where each has a value
    of its own, or all have the same.

    moves: (contexts, systems), by how much a context's answers raise each system (`reliability.moves_of_contexts`); values:
    (contexts,).
    """
    _, code = np.unique([str(value) for value in values], return_inverse=True)
    n, kinds = len(code), int(code.max(initial=-1)) + 1
    if not 2 <= kinds <= n / 2:
        return None

    def together(order: NDArray[np.int64]) -> float:
        total = np.zeros((kinds, moves.shape[1]))
        np.add.at(total, code, moves[order])
        return float((total**2).sum())

    rng = np.random.default_rng(seed)
    found = together(np.arange(n))
    as_far = sum(together(rng.permutation(n)) >= found * (1 - 1e-12) for _ in range(DRAWS))
    return (1 + as_far) / (1 + DRAWS)


def constant_sums(annotator: ArrayLike, context: ArrayLike, value: ArrayLike) -> float | None:
    """The share of sets (one annotator's scores of the outputs of one context) whose sum is the commonest of sets of that size,
    where that is no accident: ranks, or points that are shared out. None where scores are not relative, or sets are too few.

    annotator, context, value: (answers,). The same scores in another order within the annotator have other sums; where they
    have the same, as if all scores were equal, nothing is said.
    """
    who, what, scores = np.asarray(annotator), np.asarray(context), np.asarray(value, dtype=float)
    _, place = np.unique(np.stack([who, what]), axis=1, return_inverse=True)
    place = place.ravel()
    size = np.bincount(place)
    varies = np.bincount(place, scores**2) / size - (np.bincount(place, scores) / size) ** 2 > 1e-12
    if ((size > 1) & varies).sum() < LEAST_SETS:
        return None
    rng = np.random.default_rng(0)
    order = np.lexsort((rng.random(len(who)), who))
    shuffled = np.empty_like(scores)
    shuffled[np.lexsort((np.arange(len(who)), who))] = scores[order]
    share, by_chance = (_commonest(np.bincount(place, x).astype(float), size) for x in (scores, shuffled))
    return share if share >= CONSTANT > by_chance else None


def _commonest(sums: Floats, size: NDArray[np.int64]) -> float:
    """Of sets of two or more."""
    several = size > 1
    counted = sum(np.unique(sums[size == n].round(9), return_counts=True)[1].max() for n in np.unique(size[several]).tolist())
    return float(counted / several.sum())

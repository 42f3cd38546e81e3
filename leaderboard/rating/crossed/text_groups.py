"""Which contexts belong together, by their texts, where people's answers show it.

Contexts of one topic, or one prompt under several ids, move the systems alike, so they say less than as many independent
ones. Scores alone do not tell which belong together; their texts may. Texts are compared by the cosine of their character
n-grams, weighed by inverse document frequency (they read any language and survive changes of spelling: McNamee & Mayfield
2004, Information Retrieval 7). A short text shares little even with texts of its topic, but it shares that with all of them. So
two texts are as near as the profiles of their similarities to all texts, beyond what each has in common with any text: rows of
Newman's modularity matrix (2006, PNAS 103). Texts are joined to a tree by average linkage (Sokal & Michener 1958). Every level
of it is a way to group the contexts.

Texts that are alike need not be judged alike. So the answers decide: the squares of what each group moves the systems are
summed, and compared with the same of contexts that changed places at random (a permutation test, as Mantel 1967). A sum of
squares is put on a scale where it is nearly normal by its cube root (Wilson & Hilferty 1931). Contexts are grouped if chance
exceeds the best level's excess at any level in at most 5%. Groups that are too small would make differences look too sure, so
the coarsest level is taken whose excess is within one standard error of the best (the rule of Breiman, Friedman, Olshen &
Stone 1984, section 3.4.3). Where no level is shown, contexts stay as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LENGTHS = (2, 3, 4)  # of n-grams, in characters
MOST_TEXTS = 2_000  # contexts; of more, nothing is looked for
MOST_CHARACTERS = 4_000  # of a text, half from its beginning and half from its end
FEWEST = 8  # contexts of which anything is asked
SHUFFLES, BY_CHANCE = 199, 0.05
EQUAL = 1e-9  # of heights, which rounding leaves apart
LEAST = 1e-300


@dataclass(frozen=True)
class TextGroups:
    """label: int (contexts,), a number for each group; groups: how many; by_chance: the share of random orders of the contexts
    in which answers inside groups are as much alike."""

    label: Integers
    groups: int
    by_chance: float


def text_groups(moved: Floats, texts: Sequence[str]) -> TextGroups | None:
    """moved: (contexts, s), how far each context's answers move the systems (`people_board.Reading.by_context`); texts: theirs,
    in that order. None: nothing is shown, or there are too few contexts or too many."""
    if not FEWEST <= len(texts) <= MOST_TEXTS or len(set(texts)) < 2:
        return None
    alphabet = np.unique(np.asarray(texts), return_inverse=True)[1]
    order = np.lexsort((*np.sort(moved, axis=1).T, alphabet))  # whatever their numbers are
    merges, heights = tree([texts[i] for i in order])
    moves = _standardised(moved[order])
    level, by_chance = _shown(moves, merges, heights)
    if by_chance > BY_CHANCE:
        return None
    label = np.empty(len(texts), dtype=np.int64)
    label[order] = _labels(merges, level)
    return TextGroups(label, len(texts) - level, by_chance)


def tree(texts: Sequence[str]) -> tuple[Integers, Floats]:
    """((texts - 1, 2) what is merged, the most alike first: numbers of texts, or the count of texts and the number of a merge;
    (texts - 1,) how far apart that is)"""
    rows = features(texts)
    near = profiles((rows @ rows.T).toarray())
    apart = np.clip(1 - near @ near.T, 0.0, 2.0)
    np.fill_diagonal(apart, 0.0)
    found = scipy.cluster.hierarchy.linkage(scipy.spatial.distance.squareform(apart, checks=False), method="average")
    return np.asarray(found[:, :2], dtype=np.int64), np.asarray(found[:, 2])


def profiles(similar: Floats) -> Floats:
    """(texts, texts) How much more alike each text is to every text than both are to any, of length 1; 0 where it is like none.
    similar: (texts, texts); a text is as alike to itself as to the text that it is most alike to."""
    similar = similar.copy()
    np.fill_diagonal(similar, 0.0)
    np.fill_diagonal(similar, similar.max(axis=1))
    common = similar.sum(axis=1)
    beyond = similar - np.outer(common, common) / max(common.sum(), LEAST)
    length = np.sqrt((beyond**2).sum(axis=1, keepdims=True))
    return np.asarray(beyond / np.maximum(length, LEAST))


def features(texts: Sequence[str]) -> scipy.sparse.csr_matrix:
    """(texts, n-grams) of length 1 each, or 0 where a text shares nothing with another"""
    grams = [_grams(text) for text in texts]
    count = Counter(gram for one in grams for gram in one)
    known = {gram: i for i, gram in enumerate(sorted(gram for gram, n in count.items() if n > 1))}
    weight = np.log(len(texts) / np.array([count[gram] for gram in known], dtype=float))
    alone = [sum(count[gram] == 1 for gram in one) * np.log(len(texts)) ** 2 for one in grams]  # squares of what nobody shares
    columns = [sorted(known[gram] for gram in one if gram in known) for one in grams]
    ends = np.append(0, np.cumsum([len(one) for one in columns]))
    flat = np.array([i for one in columns for i in one], dtype=np.int64)
    rows = scipy.sparse.csr_matrix((weight[flat], flat, ends), shape=(len(texts), max(len(known), 1)))
    length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel() + np.array(alone))
    return scipy.sparse.csr_matrix(scipy.sparse.diags_array(1 / np.where(length > 0, length, 1.0)) @ rows)


def _grams(text: str) -> set[str]:
    plain = " ".join(text.casefold().split())
    if len(plain) > MOST_CHARACTERS:
        plain = plain[: MOST_CHARACTERS // 2] + plain[-MOST_CHARACTERS // 2 :]
    return {plain[i : i + n] for n in LENGTHS for i in range(len(plain) - n + 1)}


def _standardised(moved: Floats) -> Floats:
    """Each system's moves around 0 with variance 1, so that none of them decides alone"""
    centred = moved - moved.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(centred[:, spread > 0] / spread[spread > 0])


def _shown(moves: Floats, merges: Integers, heights: Floats) -> tuple[int, float]:
    """(how many merges the level has that is taken, the share of random orders in which any level exceeds chance as far)"""
    n, ends = len(moves), np.flatnonzero(np.diff(heights) > EQUAL)  # merges at one height belong to one level
    if not moves.size or not len(ends):
        return 0, 1.0
    rng = np.random.default_rng(0)
    orders = np.stack([np.arange(n), *(rng.permutation(n) for _ in range(SHUFFLES))])
    sums: dict[int, Floats] = {}  # of merges that are not yet part of another: (orders, s)
    total, levels = np.full(len(orders), (moves**2).sum()), []  # (orders,) of squares
    for k, pair in enumerate(merges[:-1].tolist()):  # the last merge leaves one group of all
        one, other = (sums.pop(number) if number >= n else moves[orders[:, number]] for number in pair)
        total = total + 2 * (one * other).sum(axis=1)
        sums[n + k] = one + other
        levels.append(total)
    root = np.cbrt(np.stack(levels)[ends])  # (levels, orders)
    spread = root.std(axis=1, keepdims=True)
    beyond = (root - root.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    most = beyond.max(axis=0)
    coarsest = int(np.flatnonzero(beyond[:, 0] >= most[0] - 1).max())
    return 1 + int(ends[coarsest]), float((most >= most[0]).mean())


def _labels(merges: Integers, level: int) -> Integers:
    """(texts,) the group of each after so many merges, numbered from 0"""
    n = len(merges) + 1
    of = np.arange(n + level)
    for k, pair in enumerate(merges[:level].tolist()):
        of[pair] = n + k
    for number in range(n + level - 1, -1, -1):  # a merge is a part of later ones alone
        of[number] = of[of[number]]
    return np.asarray(np.unique(of[:n], return_inverse=True)[1], dtype=np.int64)

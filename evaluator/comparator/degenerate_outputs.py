"""Outputs that say nothing of their own: blank, copied from the context, or repeating themselves.

An encoder is easily fooled by them, so such an output is lowered almost to the worst twentieth of all. Each kind has one
measure, which knows no language. What else an attack may do is learnt from negatives, or reported on the card as it is.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from evaluator.comparator.examples import Text

RUN = 3  # words in a row that an output hardly shares with a turn by chance
COPIED_SHARE, COPIED_WORDS = 0.7, 4  # of the output, that runs from the context cover; a shorter output is no copy
REPEATED_SHARE, REPEATED_PAIRS = 0.5, 4  # of the pairs of neighbouring words, that were said before; of so many at least
LOWEST = 0.05  # the share of outputs that a degenerate one is put among: some honest ones are stopped as well
LEFT = 0.02  # of how far a degenerate output would stand above those, so that two of them keep their order


def is_degenerate(texts: Sequence[Text]) -> np.ndarray:
    """(n,) True for an output without a word, one that copies its context, and one that repeats itself."""
    return np.array([_is_degenerate(words_of(text.output), text.context) for text in texts], dtype=bool)


def copied_share(words: Sequence[str], context: Sequence[str]) -> float:
    """Share of an output's words that stand in runs of RUN words or more which a turn of the context holds, too."""
    copied = np.zeros(len(words), dtype=bool)  # (w,)
    runs = frozenset().union(*(_runs_of(turn) for turn in context))
    for start, run in enumerate(_runs(words)):
        copied[start : start + RUN] |= run in runs
    return float(copied.mean()) if len(words) else 0.0


def repeated_share(words: Sequence[str]) -> float:
    """Share of an output's pairs of neighbouring words that it has said before."""
    pairs = list(zip(words, words[1:]))
    return 1 - len(set(pairs)) / len(pairs) if pairs else 0.0


def lowered(u: np.ndarray, texts: Sequence[Text], guard: float) -> np.ndarray:
    """Utilities (n,) of n texts; of what a degenerate output has above `guard`, a fiftieth is left."""
    return np.where(is_degenerate(texts), np.minimum(u, guard + LEFT * (u - guard)), u)


def words_of(text: str) -> list[str]:
    """Lower-case letters and digits, word by word; marks alone are no word."""
    return ["".join(filter(str.isalnum, word)) for word in text.casefold().split() if any(map(str.isalnum, word))]


def _is_degenerate(words: Sequence[str], context: Sequence[str]) -> bool:
    if len(words) > REPEATED_PAIRS and repeated_share(words) >= REPEATED_SHARE:
        return True
    return not words or (len(words) >= COPIED_WORDS and copied_share(words, context) >= COPIED_SHARE)


@lru_cache(maxsize=4096)
def _runs_of(turn: str) -> frozenset[tuple[str, ...]]:
    """The outputs of a context share its turns."""
    return frozenset(_runs(words_of(turn)))


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(RUN))))

"""Outputs that say little of their own: blank, copied from the context, or repeating themselves.

An encoder is easily fooled by them. So an output loses the share of its utility that it did not say itself, down to the worst
twentieth of all. Each kind has one measure, which knows no language and no threshold. What else an attack may do is learnt from
negatives, or reported on the card as it is.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from evaluator.judges.texts import Text

RUN = 3  # words in a row that an output hardly shares with a turn by chance
LOWEST = 0.05  # the share of outputs that a degenerate one is put among: some honest ones are lowered as well


def degenerate_shares(texts: Sequence[Text]) -> np.ndarray:
    """(n,) from 0 to 1: 1 for an output without a word, else the larger of its copied and its repeated share."""
    every = [(words_of(text.output), text.context) for text in texts]
    return np.array([max(copied_share(words, context), repeated_share(words)) if words else 1.0 for words, context in every])


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
    """Utilities (n,) of n texts, less the degenerate share of what each has above `guard`."""
    return np.asarray(u - degenerate_shares(texts) * np.maximum(u - guard, 0.0))


def words_of(text: str) -> list[str]:
    """Lower-case letters and digits, word by word; marks alone are no word."""
    return ["".join(filter(str.isalnum, word)) for word in text.casefold().split() if any(map(str.isalnum, word))]


@lru_cache(maxsize=4096)
def _runs_of(turn: str) -> frozenset[tuple[str, ...]]:
    """The outputs of a context share its turns."""
    return frozenset(_runs(words_of(turn)))


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(RUN))))

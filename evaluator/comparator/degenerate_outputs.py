"""Plain guards for what an encoder is easily fooled by.

Nothing said, the context said back, one thing said over and over: such an output stands hardly higher than the worst twentieth.
A phrase that fits everywhere ("i see .") is often a good answer; one that has little to do with its context loses something,
and so does a lone word.
Both look at the words, in English, and are the same for every comparator.
"""

from collections.abc import Sequence

import numpy as np

from evaluator.comparator.copy_detection import says_back
from evaluator.comparator.examples import Text
from evaluator.comparator.words import SAYS_LITTLE, words_of

LOWEST = 0.05  # the share of outputs that a guarded one stands among: some honest ones are stopped as well
LEFT = 0.02  # of how far a guarded output would stand above those, so that two of them keep their order
LITTLE_WORDS = 4  # the most words of an output that says little
LITTLE_LOSS = 0.5  # standard deviations of the utility, that such an output loses, and a lone word once more
LITTLE_TO_DO = 0.5  # the share of outputs whose cosine with their context counts as "little to do with it"
REPEATED_PAIRS, REPEATED_SHARE = 8, 0.55  # so many pairs of neighbouring words at least, and so few different ones
DOUBLED_PAIRS, DOUBLED_SHARE = 4, 0.3  # so many pairs of neighbours that are the same word, and so many of all pairs


def guarded(texts: Sequence[Text]) -> np.ndarray:
    """(n,) True for an output that is blank, says its context back, or is mostly repetition."""
    return np.array([_is_guarded(text) for text in texts], dtype=bool)


def says_little(texts: Sequence[Text]) -> np.ndarray:
    """(n,) True for an output of few words, each of which fits everywhere."""
    return np.array([0 < len(words) <= LITTLE_WORDS and SAYS_LITTLE.issuperset(words) for words in _outputs(texts)], dtype=bool)


def lowered(u: np.ndarray, texts: Sequence[Text], cosines: np.ndarray, most: float, apart: float, loss: float) -> np.ndarray:
    """Utilities (n,) of n texts: an output that says little loses `loss` where its cosine (n,) is below `apart`, and where it
    is a lone word; of what a guarded one has above `most`, little is left."""
    alone = np.array([len(words) == 1 for words in _outputs(texts)], dtype=bool)  # (n,)
    u = u - loss * says_little(texts) * ((cosines < apart).astype(float) + alone)
    return np.where(guarded(texts), np.minimum(u, most + LEFT * (u - most)), u)


def _is_guarded(text: Text) -> bool:
    words = words_of(text.output)
    return not words or is_repetition(words) or says_back(words, text.context)


def is_repetition(words: Sequence[str]) -> bool:
    """Whether few of its pairs of neighbouring words differ, or many are a word twice."""
    pairs = list(zip(words, words[1:]))
    doubled = sum(a == b for a, b in pairs)
    if doubled >= max(DOUBLED_PAIRS, DOUBLED_SHARE * len(pairs)):
        return True
    return len(pairs) >= REPEATED_PAIRS and len(set(pairs)) <= REPEATED_SHARE * len(pairs)


def _outputs(texts: Sequence[Text]) -> list[list[str]]:
    return [words_of(text.output) for text in texts]

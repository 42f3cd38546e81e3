"""An n-gram language model that is counted from texts, with nothing to download."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from evaluator.judges.texts import words

ORDER = 3
DISCOUNT = (
    0.75  # of every count: Church & Gale 1991, table 1, as Jurafsky & Martin (Speech and Language Processing, 3.7) take it
)
START, END = "<s>", "</s>"
Gram = tuple[str, ...]


class KneserNey:
    """Interpolated Kneser-Ney (Kneser & Ney 1995; Chen & Goodman 1999, section 3.1.6): of the longest n-grams the counts, of
    shorter ones in how many words' company they were seen, and below single words the same share for each word that was
    seen and for all that were not."""

    def __init__(self, texts: Sequence[str], order: int = ORDER):
        self.order = order
        grams = Counter(gram for text in texts for gram in _grams(_padded(text, order), order))
        self._following: list[dict[Gram, Counter[str]]] = []  # by the length of the history: history -> next word -> count
        for _ in range(order):
            following: dict[Gram, Counter[str]] = defaultdict(Counter)
            for gram, count in grams.items():
                following[gram[:-1]][gram[-1]] = count
            self._following.insert(0, dict(following))
            grams = Counter(gram[1:] for gram in grams)
        self.vocabulary = len(self._following[0][()])  # the end of a text is a word

    def probability(self, word: str, history: Gram) -> float:
        """P(word | the last words of the history)"""
        p = 1 / (self.vocabulary + 1)
        for length in range(min(len(history), self.order - 1) + 1):
            following = self._following[length].get(history[len(history) - length :])
            if following is None:
                break
            total = following.total()
            p = max(following[word] - DISCOUNT, 0) / total + DISCOUNT * len(following) / total * p
        return p

    def log_probabilities(self, text: str) -> list[float]:
        """Of each word of the text and of its end"""
        grams = _grams(_padded(text, self.order), self.order)
        return [math.log(self.probability(gram[-1], gram[:-1])) for gram in grams]


def _padded(text: str, order: int) -> list[str]:
    return [*[START] * (order - 1), *words(text), END]


def _grams(tokens: list[str], order: int) -> list[Gram]:
    return [tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1)]

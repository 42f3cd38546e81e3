"""Whole outputs broken on purpose, so that a comparator learns to tell the two without anybody's judgment. A kind is named as
the attack of its kind in `metaevaluation.robustness`, and made otherwise. No word of any language is known here."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from evaluator.judges.degenerate_outputs import words_of
from evaluator.judges.texts import Text

MOST = 300  # texts that are broken, drawn by the seed; each kind costs a reading of each. Our choice.
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))
SENTENCE = (".", "!", "?")
SHORTEST = 3  # words of an output that can be broken


class Breaker:
    """Makes broken outputs of n texts from these texts' own words; each method is a kind (KINDS names them) and takes a row."""

    def __init__(self, texts: Sequence[Text], rng: np.random.Generator):
        self.texts, self.rng = texts, rng
        self.words = [word for text in texts for word in text.output.split()]
        self.frequency = Counter(word for text in texts for word in words_of(text.output))
        self.names = [word for text in texts for word in map(str, _named(text.output.split()).values())]

    def keyword_list(self, row: int) -> str:
        """The rarer half of its words, or of its words and its question's, in any order."""
        keys = self._rare(self.texts[row].output) + (self._asked(row) if self.rng.random() < 0.5 else [])
        return (", " if self.rng.random() < 0.5 else " ").join(keys[i] for i in self.rng.permutation(len(keys)))

    def gibberish(self, row: int) -> str:
        """Letters at random between rare words of the output and of what it answers."""
        keys, size = self._rare(self.texts[row].output) + self._asked(row), len(self.texts[row].output.split())
        return " ".join(
            keys[self.rng.integers(len(keys))] if keys and self.rng.random() < 0.4 else self._letters() for _ in range(size)
        )

    def cut(self, row: int) -> str:
        words = self.texts[row].output.split()
        return " ".join(words[: max(2, int(len(words) * self.rng.uniform(0.35, 0.65)))])

    def shuffled(self, row: int) -> str:
        words = self.texts[row].output.split()
        return " ".join(words[i] for i in self.rng.permutation(len(words)))

    def changed(self, row: int) -> str:
        """One word is another text's."""
        words = self.texts[row].output.split()
        words[self.rng.integers(len(words))] = self.words[self.rng.integers(len(self.words))]
        return " ".join(words)

    def appended(self, row: int) -> str:
        """With an output of another context behind it."""
        other = self.texts[int(self.rng.integers(len(self.texts)))]
        text = self.texts[row]
        return text.output if other.context == text.context else f"{text.output} {other.output}"

    def swapped(self, row: int) -> str:
        """Its names and numbers are others'."""
        words = self.texts[row].output.split()
        for place in _named(words):
            words[place] = self.names[self.rng.integers(len(self.names))]
        return " ".join(words)

    def _letters(self) -> str:
        return "".join(self.rng.choice(LETTERS, size=self.rng.integers(3, 9)))

    def _rare(self, text: str) -> list[str]:
        keys = sorted(dict.fromkeys(words_of(text)), key=lambda word: (self.frequency[word], -len(word)))
        return keys[: max(2, len(keys) // 2)]

    def _asked(self, row: int) -> list[str]:
        context = self.texts[row].context
        return self._rare(context[-1]) if context else []


KINDS: dict[str, Callable[[Breaker, int], str]] = {
    "keyword list": Breaker.keyword_list,
    "gibberish": Breaker.gibberish,
    "cut": Breaker.cut,
    "shuffled": Breaker.shuffled,
    "one word changed": Breaker.changed,
    "appended": Breaker.appended,
    "swapped": Breaker.swapped,
}


def broken(texts: Sequence[Text], seed: int) -> tuple[np.ndarray, dict[str, tuple[np.ndarray, list[Text]]]]:
    """(rows (m,) of at most MOST texts, and for each kind of KINDS (those of the rows (k,) that it changes, the same texts
    broken)); outputs of fewer than SHORTEST words are left out"""
    rng = np.random.default_rng([seed, 13])
    able = [i for i, text in enumerate(texts) if len(text.output.split()) >= SHORTEST]
    rows = np.sort(rng.permutation(able)[:MOST]).astype(int)
    chosen = [texts[i] for i in rows]
    breaker, found = Breaker(chosen, rng), {}
    for name, kind in KINDS.items():
        made = [kind(breaker, i) for i in range(len(chosen))]
        differs = [i for i, output in enumerate(made) if output != chosen[i].output]
        found[name] = rows[differs], [Text(chosen[i].context, made[i]) for i in differs]
    return rows, found


def _named(words: Sequence[str]) -> dict[int, str]:
    """Places of words with a digit, and of words with a capital that begin no sentence."""
    begins = [i == 0 or words[i - 1].endswith(SENTENCE) for i in range(len(words))]
    capital = [word[0].isupper() and len(word) > 1 for word in words]
    return {i: word for i, word in enumerate(words) if re.search(r"\d", word) or (capital[i] and not begins[i])}

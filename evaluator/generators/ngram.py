"""A trigram model of the training replies, nudged towards one keyword of the context.

A word is drawn from the interpolation of trigram, bigram and unigram estimates. Words that occur in replies to contexts
with the same keyword weigh `boost` times as much. Locally it reads well; beyond three words it knows nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from random import Random

from evaluator.generators.dialogue import AnsweredTurn, content_words, sentence
from evaluator.judges.texts import words

START, END = "<s>", "</s>"
WEIGHTS = (0.70, 0.28, 0.02)  # trigram, bigram, unigram
LONGEST = 24


class NgramGenerator:
    def __init__(self, training: Sequence[AnsweredTurn], boost: float = 4.0):
        if not training:
            raise ValueError("An n-gram model needs at least one training exchange.")
        self._boost = boost
        self._counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)  # last 2, 1 or 0 words -> next word
        self._related: dict[str, set[str]] = defaultdict(set)  # keyword -> content words of replies about it
        self._contexts_with: Counter[str] = Counter()
        for exchange in training:
            self._learn(exchange)

    def _learn(self, exchange: AnsweredTurn) -> None:
        tokens = [START, START, *words(exchange.reply), END]
        for i in range(2, len(tokens)):
            for history in ((tokens[i - 2], tokens[i - 1]), (tokens[i - 1],), ()):
                self._counts[history][tokens[i]] += 1
        topic = content_words(" ".join(exchange.context))
        self._contexts_with.update(topic)
        for keyword in topic | content_words(exchange.reply):
            self._related[keyword] |= content_words(exchange.reply)

    def keyword(self, context: tuple[str, ...]) -> str | None:
        """The context's rarest content word that the training replies can say something about."""
        known = content_words(" ".join(context)) & self._related.keys()
        return min(known, key=lambda word: (self._contexts_with[word], word), default=None)

    def distribution(self, history: tuple[str, str], keyword: str | None) -> dict[str, float]:
        """Probability of each possible next word; it sums to one."""
        mass: dict[str, float] = defaultdict(float)
        for weight, key in zip(WEIGHTS, (history, history[1:], ()), strict=True):
            following = self._counts.get(key)
            if following:
                total = following.total()
                for word, count in following.items():
                    mass[word] += weight * count / total
        for word in self._related.get(keyword, ()) if keyword else ():
            if word in mass:
                mass[word] *= self._boost
        total_mass = sum(mass.values())
        return {word: value / total_mass for word, value in mass.items()}

    def reply(self, context: tuple[str, ...], rng: Random) -> str:
        keyword = self.keyword(context)
        tokens = [START, START]
        while len(tokens) < LONGEST + 2:
            choices = self.distribution((tokens[-2], tokens[-1]), keyword)
            if len(tokens) == 2:
                choices = {word: p for word, p in choices.items() if word[0].isalnum()} or choices
            word = rng.choices(list(choices), list(choices.values()))[0]
            if word == END:
                break
            tokens.append(word)
        return sentence(tokens[2:])

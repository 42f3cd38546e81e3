"""Replies made worse, for next-utterance supervision: each kind takes an exchange and gives a reply to avoid.

Random and corrupted negatives follow Zhao et al. 2020 (section 5.2) and Sai et al. 2020 (hard negatives).
"""

from collections.abc import Callable, Sequence

import numpy as np

from evaluator.comparator.examples import Exchange


class Negatives:
    """Makes them from the exchanges themselves; each method is a kind (`curriculum.HARD` names them)."""

    def __init__(self, exchanges: Sequence[Exchange]):
        self.exchanges = exchanges
        self.replies = [(exchange.dialogue, reply) for exchange in exchanges for reply in exchange.replies]
        self.words = [word for _, reply in self.replies for word in reply.split()]
        if len({exchange.dialogue for exchange in exchanges}) < 2:
            raise ValueError("Next-utterance supervision needs at least two dialogues.")

    def make(self, kind: str, i: int, reply: str, rng: np.random.Generator) -> str:
        """A worse reply to exchange i, from a good one."""
        method: Callable[..., str] = getattr(self, kind)
        return method(i, reply, rng)

    def random(self, i: int, reply: str, rng: np.random.Generator) -> str:
        """A reply of another dialogue."""
        while True:
            dialogue, other = self.replies[rng.integers(len(self.replies))]
            if dialogue != self.exchanges[i].dialogue:
                return other

    def replaced(self, i: int, reply: str, rng: np.random.Generator) -> str:
        """A third of the words are others."""
        words = self.words
        return " ".join(words[rng.integers(len(words))] if rng.random() < 0.35 else word for word in reply.split())

    def padded(self, i: int, reply: str, rng: np.random.Generator) -> str:
        """With another dialogue's reply before or after it."""
        extra = self.random(i, reply, rng)
        return f"{reply} {extra}" if rng.random() < 0.5 else f"{extra} {reply}"

    def shuffled(self, i: int, reply: str, rng: np.random.Generator) -> str:
        return " ".join(str(word) for word in rng.permutation(reply.split()))

    def dropped(self, i: int, reply: str, rng: np.random.Generator) -> str:
        """A third of the words are gone."""
        return " ".join(word for word in reply.split() if rng.random() > 0.35) or "."

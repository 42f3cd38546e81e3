"""A fluent reply to something else: any reply of the training dialogues."""

from collections.abc import Sequence
from random import Random

from evaluator.generators.dialogue import AnsweredTurn


class RandomReplyGenerator:
    def __init__(self, training: Sequence[AnsweredTurn]):
        if not training:
            raise ValueError("A random reply needs at least one training exchange.")
        self._replies = [exchange.reply for exchange in training]

    def reply(self, context: tuple[str, ...], rng: Random) -> str:
        return rng.choice(self._replies)

"""The reply that somebody gave in the most similar training context."""

from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from evaluator.generators.dialogue import AnsweredTurn

Embed = Callable[[Sequence[str]], np.ndarray]  # n texts -> (n, width), rows of length 1


class RetrievalGenerator:
    """Nearest neighbour by cosine; half of a context's embedding is its last turn, half its last three turns."""

    def __init__(self, training: Sequence[AnsweredTurn], embed: Embed):
        if not training:
            raise ValueError("Retrieval needs at least one training exchange.")
        self._embed = embed
        self._replies = [exchange.reply for exchange in training]
        self._keys = self._embed_contexts([exchange.context for exchange in training])  # (n, width)

    def _embed_contexts(self, contexts: Sequence[tuple[str, ...]]) -> np.ndarray:
        last = self._embed([context[-1] for context in contexts])
        recent = self._embed([" ".join(context[-3:]) for context in contexts])
        both = last + recent
        keys: np.ndarray = both / np.linalg.norm(both, axis=1, keepdims=True)
        return keys

    def reply(self, context: tuple[str, ...], rng: Random) -> str:
        similarity = self._keys @ self._embed_contexts([context])[0]  # (n,)
        return self._replies[int(np.argmax(similarity))]

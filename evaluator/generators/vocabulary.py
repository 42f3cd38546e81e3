"""The words that a small generator knows, each with a number, and the marks between them."""

from collections import Counter
from collections.abc import Sequence

from evaluator.generators.dialogue import AnsweredTurn, sentence
from evaluator.judges.texts import words

PAD, UNKNOWN, START, END, TURN = range(5)
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "<turn>")


class Vocabulary:
    """Every word of the training exchanges; anything else is one unknown word."""

    def __init__(self, training: Sequence[AnsweredTurn]):
        counts = Counter(w for e in training for text in (*e.context, e.reply) for w in words(text))
        self.words = [*SPECIAL, *sorted(counts)]
        self._index = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> list[int]:
        return [self._index.get(word, UNKNOWN) for word in words(text)]

    def encode_context(self, context: Sequence[str], longest: int) -> list[int]:
        ids = [i for turn in context for i in (*self.encode(turn), TURN)]
        return ids[-longest:] or [TURN]

    def text(self, ids: Sequence[int]) -> str:
        return sentence([self.words[i] for i in ids])

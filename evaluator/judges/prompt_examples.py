"""People's accepted answers as examples in a prompt: of other contexts than the one that is judged, always.

Contexts are dealt into folds by their text alone, and a text is shown examples of the other folds. So no example shares a
context with what is judged, whoever asks and whatever else is judged, and all texts of a fold are asked in the same words.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from core.errors import Refused
from evaluator.judges.texts import Text, context_key

FOLDS = 5


@dataclass(frozen=True)
class Example:
    """One text with people's score, or two of one context with their choice; label: as the model would write it."""

    texts: tuple[Text, ...]
    label: str | int


@dataclass(frozen=True)
class Examples:
    """count: shown at once, each of another context and, as far as there are such, of another answer. Drawn by the seed."""

    pool: tuple[Example, ...]
    count: int
    seed: int = 0

    def __post_init__(self) -> None:
        if not all(self.sets):
            raise Refused("Examples are people's accepted answers of other contexts, and there are too few contexts for them.")

    def beside(self, text: Text) -> tuple[Example, ...]:
        return self.sets[_fold(text)]

    @cached_property
    def sets(self) -> tuple[tuple[Example, ...], ...]:
        """By fold of what is judged."""
        ordered = sorted(self.pool, key=self._place)
        return tuple(self._drawn([one for one in ordered if _fold(one.texts[0]) != fold]) for fold in range(FOLDS))

    def _drawn(self, ordered: Sequence[Example]) -> tuple[Example, ...]:
        by_label: dict[str | int, list[Example]] = defaultdict(list)
        for one in ordered:
            by_label[one.label].append(one)
        drawn: list[Example] = []
        taken: set[str] = set()
        while len(drawn) < self.count and any(by_label.values()):
            for label in sorted(by_label, key=str):
                free = [one for one in by_label[label] if context_key(one.texts[0].context) not in taken]
                by_label[label] = free[1:]
                if free and len(drawn) < self.count:
                    drawn.append(free[0])
                    taken.add(context_key(free[0].texts[0].context))
        return tuple(sorted(drawn, key=self._place))

    def _place(self, example: Example) -> str:
        said = "\n".join([context_key(example.texts[0].context), *(text.output for text in example.texts)])
        return hashlib.sha256(f"{self.seed}:{said}".encode("utf-8", "surrogatepass")).hexdigest()


def _fold(text: Text) -> int:
    return int(context_key(text.context)[:8], 16) % FOLDS

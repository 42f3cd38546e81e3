"""People's accepted answers as examples in a prompt: of other contexts and groups than those of what is judged, always.

Groups, and contexts without one by their text alone, are dealt into folds, and a text is shown examples of the other folds. So
no example shares a context or group with what is judged, whoever asks and whatever else is judged, and all texts of a fold are
asked in the same words (unless two groups have a context in common).
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from core.errors import Refused
from evaluator.judges.texts import GROUP, Text, context_key, keys_of

FOLDS = 5


@dataclass(frozen=True)
class Example:
    """One text with people's score, or two of one context with their choice; label: as the model would write it."""

    texts: tuple[Text, ...]
    label: str | int


@dataclass(frozen=True)
class Examples:
    """count: shown at once, each of another context or group and, as far as there are such, of another answer. Drawn by the
    seed."""

    pool: tuple[Example, ...]
    count: int
    seed: int = 0

    def __post_init__(self) -> None:
        if not all(self.sets):
            raise Refused("Examples are people's accepted answers of other contexts, and there are too few contexts for them.")

    def beside(self, text: Text) -> tuple[Example, ...]:
        shown, words = self.sets[_fold(text)], context_key(text.context)
        if all(context_key(one.texts[0].context) != words for one in shown):
            return shown
        ordered = [one for one in self._others(_fold(text)) if context_key(one.texts[0].context) != words]
        return self._drawn(ordered)

    @cached_property
    def sets(self) -> tuple[tuple[Example, ...], ...]:
        """By fold of what is judged."""
        return tuple(self._drawn(self._others(fold)) for fold in range(FOLDS))

    def _others(self, fold: int) -> list[Example]:
        return sorted((one for one in self.pool if _fold(one.texts[0]) != fold), key=self._place)

    def _drawn(self, ordered: Sequence[Example]) -> tuple[Example, ...]:
        by_label: dict[str | int, list[Example]] = defaultdict(list)
        for one in ordered:
            by_label[one.label].append(one)
        drawn: list[Example] = []
        taken: set[str] = set()
        while len(drawn) < self.count and any(by_label.values()):
            for label in sorted(by_label, key=str):
                free = [one for one in by_label[label] if keys_of(one.texts[0])[0] not in taken]
                by_label[label] = free[1:]
                if free and len(drawn) < self.count:
                    drawn.append(free[0])
                    taken.add(keys_of(free[0].texts[0])[0])
        return tuple(sorted(drawn, key=self._place))

    def _place(self, example: Example) -> str:
        said = "\n".join([context_key(example.texts[0].context), *(text.output for text in example.texts)])
        return hashlib.sha256(f"{self.seed}:{said}".encode("utf-8", "surrogatepass")).hexdigest()


def _fold(text: Text) -> int:
    return int(keys_of(text)[0].removeprefix(GROUP)[:8], 16) % FOLDS

"""How many contexts, people and judgments find a difference that is given, and what one budget finds.

The other way round than `power`: the same power of the same test, searched over the number of contexts. A judge that answers
more contexts than people do helps as far as it knows what people would say: where its scores correlate at r with what people
on average say of an output beside its system's mean, the part of the variance that contexts add shrinks from s2_CS to
s2_CS (1 - r^2 (1 - n / N)), n the contexts with people's answers and N with the judge's (Angelopoulos et al. 2023,
prediction-powered inference with the best weight; the control variate of the survey literature, Cochran 1977, chapter 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from annotation.design.power import POWER

PER_OUTPUT = (1, 2, 3, 5, 8, 12)  # people on each item
MORE_PEOPLE = (1, 2, 4, 8, 16)  # times as many annotators as there are, until the difference can be found
MOST_CONTEXTS = 1_000_000

Powers = Callable[[int, int, int], float]  # (contexts, people an item, annotators) -> power
Judgments = Callable[[int, int], int]  # (contexts, people an item) -> judgments of the evaluation


@dataclass(frozen=True)
class Judge:
    """correlation: of its scores with what people on average say of an output, beside its system's mean; contexts: that it
    answers, those of people among them."""

    correlation: float
    contexts: int

    def left(self, contexts: int) -> float:
        """The share of the contexts' variance that people have to find out themselves."""
        return 1 - self.correlation**2 * (1 - min(1.0, contexts / max(self.contexts, 1)))


@dataclass(frozen=True)
class Way:
    """One way to find the difference: so many contexts, so many people on each item, of so many annotators."""

    contexts: int
    per_item: int
    annotators: int
    judgments: int
    power: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def ways(
    power: Powers, judgments: Judgments, annotators: int, wanted: float = POWER, per_item: Iterable[int] = PER_OUTPUT
) -> list[Way]:
    """The fewest contexts for each number of people on an item, with as many annotators as there are, or twice, four times, ...
    as many where fewer are not enough, or twice as many save more than half of the judgments. Left out: a number of people on
    an item for which no campaign of MOST_CONTEXTS contexts is enough."""
    found = []
    for each in per_item:
        best: Way | None = None
        for times in MORE_PEOPLE:
            way = _way(power, judgments, each, max(annotators * times, each, 2), wanted)
            if best and way and way.judgments > best.judgments / 2:
                break
            best = way or best
        found += [best] if best else []
    return found


def _way(power: Powers, judgments: Judgments, each: int, people: int, wanted: float) -> Way | None:
    contexts = _fewest(lambda n: power(n, each, people), wanted)
    if contexts is None:
        return None
    return Way(contexts, each, people, judgments(contexts, each), power(contexts, each, people))


def at_budget(
    power: Powers, judgments: Judgments, annotators: int, budget: int, per_item: Iterable[int] = PER_OUTPUT
) -> list[Way]:
    """What so many judgments find, on many contexts with few people each, or on few with many."""
    found = []
    for each in per_item:
        contexts = budget // max(judgments(1, each), 1)
        if contexts >= 2:
            people = max(annotators, each, 2)
            found.append(Way(contexts, each, people, judgments(contexts, each), power(contexts, each, people)))
    return found


def _fewest(power: Callable[[int], float], wanted: float) -> int | None:
    low, high = 1, 2
    while power(high) < wanted:
        low, high = high, high * 2
        if high > MOST_CONTEXTS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= wanted else (middle, high)
    return high

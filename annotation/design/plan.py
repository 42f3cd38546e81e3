"""What a protocol asks of people: how many judgments, how long, of how many annotators."""

import math
from dataclasses import dataclass

from annotation.design.blocks import most_on_a_context
from annotation.design.together import Together

SECONDS_PER_SCORE, SECONDS_PER_PAIR = 25.0, 35.0  # assumed where no pilot says better; shown as an assumption


def seconds_together(outputs: int) -> float:
    """Assumed for so many outputs at a time: each is read as long as one of a pair."""
    return SECONDS_PER_PAIR * outputs / 2


@dataclass(frozen=True)
class Protocol:
    """systems: that are compared; contexts: each with an output of every system. extras: training and qualification
    items, which everybody gets. annotators: how many are expected (None: as few as the overlap and the quota allow).
    The rest: as on a campaign."""

    systems: int
    contexts: int
    likert: bool = True
    pairwise: bool = False
    pair_design: str = "ring"
    pairs: int | None = None
    outputs_at_once: int = 2
    best_worst: bool = False
    overlap: int = 3
    overlap_percent: int = 100
    quota: int | None = None
    gold_percent: int = 0
    repeat_percent: int = 0
    extras: int = 0
    annotators: int | None = None

    @property
    def all_pairs(self) -> int:
        return self.systems * (self.systems - 1) // 2

    @property
    def pair_items(self) -> int:
        """Pairs to judge, or rankings of several outputs, each of which is one."""
        if not self.pairwise or self.systems < 2:
            return 0
        if self.outputs_at_once > 2:
            most = self.contexts * most_on_a_context(self.systems, self.outputs_at_once)
            return min({"all": most, "number": self.pairs or most}.get(self.pair_design, self.contexts), most)
        on_each = self.all_pairs if self.pair_design == "all" or self.systems == 2 else self.systems
        everything = self.contexts * self.all_pairs
        return min(self.pairs or everything, everything) if self.pair_design == "number" else self.contexts * on_each

    @property
    def together(self) -> Together:
        """What one answer compares."""
        outputs = min(self.outputs_at_once, self.systems)
        return Together(outputs, self.best_worst and outputs > 2)

    @property
    def score_items(self) -> int:
        return self.contexts * self.systems if self.likert else 0

    @property
    def contexts_per_pair(self) -> float:
        """On how many contexts two systems meet each other, on average over the pairs of systems."""
        outputs = self.together.outputs
        return self.pair_items * (outputs * (outputs - 1) // 2) / self.all_pairs if self.all_pairs else 0.0

    def judgments_of(self, items: int) -> int:
        shared = round(items * self.overlap_percent / 100)
        return shared * self.overlap + items - shared

    @property
    def people_per_item(self) -> tuple[tuple[float, float], ...]:
        """(share of the items, people on each of them)"""
        shared = self.overlap_percent / 100
        return tuple((share, k) for share, k in ((shared, float(self.overlap)), (1 - shared, 1.0)) if share)


@dataclass(frozen=True)
class Plan:
    """scores, pairs: judgments of the evaluation; a ranking is one. gold, repeats: what comes on top, over everybody. extras:
    training and qualification items, over everybody. seconds: of all of it. annotators: how many people it takes."""

    scores: int
    pairs: int
    gold: int
    repeats: int
    extras: int
    annotators: int
    seconds: float

    @property
    def judgments(self) -> int:
        return self.scores + self.pairs + self.gold + self.repeats + self.extras

    @property
    def seconds_each(self) -> float:
        return self.seconds / self.annotators if self.annotators else 0.0


def plan(protocol: Protocol, seconds_per_score: float = SECONDS_PER_SCORE, seconds_per_pair: float = SECONDS_PER_PAIR) -> Plan:
    """gold_percent is a share of all that a person judges, so gold = evaluation x g / (100 - g); repeats are a share of the
    pairs. Nobody judges an item twice, so there are at least `overlap` annotators; a quota needs more.

    Raises ValueError where all of a person's items are gold, or the annotators expected are fewer than it takes.
    """
    if protocol.gold_percent >= 100:
        raise ValueError("With 100 % gold items nothing is evaluated.")
    scores, pairs = protocol.judgments_of(protocol.score_items), protocol.judgments_of(protocol.pair_items)
    repeats = pairs * protocol.repeat_percent // 100
    gold = round((scores + pairs + repeats) * protocol.gold_percent / (100 - protocol.gold_percent))
    main = scores + pairs + repeats + gold
    several = main > 0 and protocol.overlap_percent > 0
    least = max(protocol.overlap if several else min(1, main), math.ceil(main / protocol.quota) if protocol.quota else 0)
    annotators = least if protocol.annotators is None else protocol.annotators
    if annotators < least:
        raise ValueError(f"{least} annotators are needed at least, and {annotators} are expected.")
    extras = protocol.extras * annotators
    mean = (scores * seconds_per_score + (pairs + repeats) * seconds_per_pair) / max(1, scores + pairs + repeats)
    seconds = (main + extras) * mean
    return Plan(scores, pairs, gold, repeats, extras, annotators, seconds)

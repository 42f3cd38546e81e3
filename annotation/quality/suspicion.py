"""Which annotators to look at first, and why: a sorted list with reasons. It bans nobody.

Each test compares one annotator with the others, with a margin, so that in a large campaign an honest annotator who is
a little worse than the rest does not stand out; a test rejects where the annotator is *surely* beyond the margin. All
tests of a campaign are corrected together (Holm 1979): a campaign of honest annotators flags anybody in at most 5%.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom, binomtest, norm

from annotation.quality.annotator_cards import Behaviour, Card, fisher_z

HALF = 1 / 2  # surely below this share of what the others reach
EXCESS = 1.5  # surely above this times the others' variance of disagreement
FAST = 1 / 3  # of the others' median time; surely in more than half of the answers
LEVEL = 0.05  # chance that anybody honest is flagged, over the whole campaign

Result = tuple[str, float, str]  # kind, p, the finding in words; None where there is nothing to test
Test = Callable[[Card, list[Card], Behaviour], Result | None]


@dataclass(frozen=True)
class Concern:
    """One test of one annotator: p by itself and corrected for all tests of the campaign, and the finding in words."""

    kind: str
    p: float
    p_corrected: float
    reason: str

    @property
    def is_flagged(self) -> bool:
        return self.p_corrected <= LEVEL


@dataclass(frozen=True)
class Suspect:
    """An annotator with all concerns, the gravest first; those that do not reject are there too."""

    annotator: int
    concerns: tuple[Concern, ...]

    @property
    def is_flagged(self) -> bool:
        return self.concerns[0].is_flagged

    @property
    def reasons(self) -> list[str]:
        return [concern.reason for concern in self.concerns if concern.is_flagged]


def suspicion(cards: list[Card], behaviour: Behaviour = Behaviour()) -> list[Suspect]:  # noqa: B008
    """Every annotator for whom there is a test, the most suspicious first."""
    tested = [(card.annotator, *result) for test in TESTS for card in cards if (result := test(card, cards, behaviour))]
    corrected = holm([p for _, _, p, _ in tested])
    concerns: dict[int, list[Concern]] = {}
    for (annotator, kind, p, reason), p_corrected in zip(tested, corrected):
        concerns.setdefault(annotator, []).append(Concern(kind, p, p_corrected, reason))
    suspects = [Suspect(who, tuple(sorted(own, key=lambda c: c.p))) for who, own in concerns.items()]
    return sorted(suspects, key=lambda suspect: (suspect.concerns[0].p, suspect.annotator))


def holm(p: ArrayLike) -> list[float]:
    """p-values corrected for all tests made (Holm 1979): the k-th smallest of n times n - k + 1, never decreasing."""
    p = np.asarray(p, dtype=float)
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return corrected.tolist()


def _agreement(card: Card, cards: list[Card], _: Behaviour) -> Result | None:
    """Surely below HALF of the median agreement of the others: Fisher's z."""
    reached = [c.agreement for c in cards if c is not card and c.agreement is not None]
    if card.agreement is None or not reached or np.median(reached) <= 0:
        return None
    usual = float(np.median(reached))
    z = (fisher_z(HALF * usual) - fisher_z(card.agreement)) * np.sqrt(card.shared_items - 3)
    against = " The answers run against the others': was the scale read upside down?" if (card.agreement_high or 0) < 0 else ""
    reason = f"Correlation with the others {card.agreement:.2f} over {card.shared_items} items; usual here: {usual:.2f}."
    return "agreement", float(norm.sf(z)), reason + against


def _disagreement(card: Card, cards: list[Card], _: Behaviour) -> Result | None:
    """Answers surely more than EXCESS times as far from the others' (in variance, own severity aside) as usual."""
    usual = [c.disagreement for c in cards if c is not card and c.disagreement]
    if not card.disagreement or not usual or not card.disagreement_spread:
        return None
    ratio = card.disagreement / float(np.median(usual))
    z = (np.log(ratio) - np.log(EXCESS)) / card.disagreement_spread
    reason = f"Differs from the others {np.sqrt(ratio):.1f} times as much as usual here, over {card.shared_items} items."
    return "disagreement", float(norm.sf(z)), reason


def _run(card: Card, cards: list[Card], _: Behaviour) -> Result | None:
    """One answer so often in a row that somebody who repeats as often as the others would not get there."""
    others = [c for c in cards if c is not card and c.ordered_items > 1]
    if card.ordered_items < 2 or not others:
        return None
    again = (sum(c.adjacent_equal for c in others) + 1) / (sum(c.ordered_items - 1 for c in others) + 2)
    starts = card.ordered_items - card.longest_run + 1
    p = min(1.0, starts * again ** (card.longest_run - 1))  # Boole's inequality over the places where a run can start
    return "same answer", p, f"The same answer {card.longest_run} times in a row, of {card.ordered_items} items."


def _side(card: Card, cards: list[Card], _: Behaviour) -> Result | None:
    """Left and right as a fair coin: exact binomial test."""
    n = card.left + card.right
    if n == 0:
        return None
    p = binomtest(card.left, n, 0.5).pvalue
    return "side", float(p), f"Preferred the left output in {card.left} of {n} judgments that were no tie."


def _below_the_others(kind: str, total: str, right: str, words: str) -> Test:
    """A test that a share (right of total) is surely below HALF of the others': exact binomial test."""

    def test(card: Card, cards: list[Card], _: Behaviour) -> Result | None:
        n, reached = getattr(card, total), getattr(card, right)
        others_n = sum(getattr(c, total) for c in cards if c is not card)
        if n == 0 or others_n == 0:
            return None
        usual = sum(getattr(c, right) for c in cards if c is not card) / others_n
        p = float(binom.cdf(reached, n, HALF * usual))
        return kind, p, f"{words} {reached} of {n} times; the others in {100 * usual:.0f}%."

    return test


def _fast(card: Card, cards: list[Card], behaviour: Behaviour) -> Result | None:
    """Surely more than half of the answers took less than FAST of the others' median time: exact binomial test."""
    who, seconds = np.asarray(behaviour.seconds[0]), np.asarray(behaviour.seconds[1], dtype=float)
    usual = [c.seconds for c in cards if c is not card and c.seconds is not None]
    if card.seconds is None or not usual:
        return None
    limit = FAST * float(np.median(usual))
    own = seconds[who == card.annotator]
    fast = int((own < limit).sum())
    p = float(binom.sf(fast - 1, len(own), 0.5))
    return "speed", p, f"{fast} of {len(own)} items took under {limit:.1f} s, a third of what others need."


TESTS: tuple[Test, ...] = (
    _disagreement,
    _agreement,
    _run,
    _side,
    _below_the_others("repeats", "repeats", "repeats_same", "Answered an item that came back as before"),
    _below_the_others("gold", "gold", "gold_right", "Gave the known answer"),
    _fast,
)

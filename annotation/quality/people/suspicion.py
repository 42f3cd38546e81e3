"""Which annotators to look at first, and why: a sorted list with reasons. It bans nobody.

Each test compares one annotator with what honest ones do here, and has a margin, so that severity, tastes, a ceiling, or topics
that somebody does not know flag nobody. The margin of agreement and repetition is how far the others differ by
themselves (`random_effects`); that of the other tests lies half way from what is usual to never, or to always. All tests of a
campaign are corrected together (Holm 1979): a campaign of honest annotators flags anybody in at most 4%, and by influence
(`influence`) in at most 0.5%.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from annotation.quality.people.annotator_cards import AnnotatorCard, Behaviour
from annotation.quality.people.random_effects import Floats, lower_tail

HALF = 1 / 2  # surely below this share of what the others reach, or over half the way from them to always
FAST = 1 / 3  # of the others' median time; surely in more than half of the answers
AGREEMENT = "agreement"
UNUSUAL = 0.05  # p of agreement below which somebody is set beside others like this, before all tests are corrected
LEVEL = 0.04  # chance that anybody honest is flagged, over the whole campaign
PRIOR_DF = 4  # annotators that the prior of the spread among honest annotators is worth
PRIOR_SPREAD = 1 / 10  # of what is usual, or of the way from chance to always: its standard deviation

Result = tuple[float, str]  # p, the finding in words
Test = Callable[[list[AnnotatorCard], Behaviour], list[Result | None]]  # one of each card; None where there is nothing to test


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
    """An annotator with all concerns, the gravest first; those that do not reject are there too. in_camp: others agree with
    this one as people do (`camps`), so that little agreement with the rest is no carelessness."""

    annotator: int
    concerns: tuple[Concern, ...]
    in_camp: bool = False

    @property
    def is_flagged(self) -> bool:
        return bool(self.reasons)

    @property
    def is_unusual(self) -> bool:
        """Does it agree little with the others, if it alone was tested?"""
        return any(concern.kind == AGREEMENT and concern.p <= UNUSUAL for concern in self.concerns)

    @property
    def reasons(self) -> list[str]:
        counts = [concern for concern in self.concerns if not (self.in_camp and concern.kind == AGREEMENT)]
        return [concern.reason for concern in counts if concern.is_flagged]


def suspicion(cards: list[AnnotatorCard], behaviour: Behaviour = Behaviour()) -> list[Suspect]:  # noqa: B008
    """Every annotator for whom there is a test, the most suspicious first."""
    tested = [
        (card.annotator, kind, *result)
        for kind, (test, _) in TESTS.items()
        for card, result in zip(cards, test(cards, behaviour))
        if result
    ]
    corrected = holm([p for _, _, p, _ in tested], [TESTS[kind][1] for _, kind, _, _ in tested])
    concerns: dict[int, list[Concern]] = {}
    for (annotator, kind, p, reason), p_corrected in zip(tested, corrected):
        concerns.setdefault(annotator, []).append(Concern(kind, p, p_corrected, reason))
    suspects = [Suspect(who, tuple(sorted(own, key=lambda c: (c.p_corrected, c.p)))) for who, own in concerns.items()]
    return sorted(suspects, key=lambda suspect: (suspect.concerns[0].p_corrected, suspect.concerns[0].p, suspect.annotator))


def holm(p: ArrayLike, weight: ArrayLike | None = None) -> list[float]:
    """p-values corrected for all tests made (Holm 1979, section 3, with weights): in the order of p / weight, each times the
    weight of all that are not yet rejected, never decreasing. All weigh the same where weight is left out."""
    p = np.asarray(p, dtype=float)
    weight = np.ones(len(p)) if weight is None else np.asarray(weight, dtype=float)
    order = np.argsort(p / weight, kind="stable")
    left = np.cumsum(weight[order][::-1])[::-1]
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] / weight[order] * left), 1.0)
    return corrected.tolist()


def _known(cards: list[AnnotatorCard], name: str) -> Floats:
    """(cards,), nan where a card does not know it"""
    values = [getattr(card, name) for card in cards]
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _agreement(cards: list[AnnotatorCard], _: Behaviour) -> list[Result | None]:
    """Surely below what the others differ by: random effects, on Fisher's z."""
    z, error = _known(cards, "association"), _known(cards, "association_error")
    usual = np.array([np.nanmedian(np.delete(z, i)) if np.isfinite(np.delete(z, i)).any() else 0.0 for i in range(len(z))])
    p, usual = lower_tail(z, error, PRIOR_SPREAD * np.abs(usual), PRIOR_DF)
    against = " The answers are reversed compared with the others. Was the scale read upside down?"
    return [
        (
            float(p[i]),
            f"Correlation with the others {np.tanh(z[i]):.2f} over {card.shared_items} items, without severity; usual here:"
            f" {np.tanh(usual[i]):.2f}." + (against if z[i] + scipy.stats.norm.ppf(0.975) * error[i] < 0 else ""),
        )
        if np.isfinite(p[i])
        else None
        for i, card in enumerate(cards)
    ]


def _constancy(cards: list[AnnotatorCard], _: Behaviour) -> list[Result | None]:
    """One answer so often that nobody honest would give it, with half the others' variance."""
    return [
        (card.commonest_p, f"The same answer to {100 * card.commonest:.0f}% of {card.items} items.")
        if card.commonest_p is not None and card.commonest is not None
        else None
        for card in cards
    ]


def _repetition(cards: list[AnnotatorCard], _: Behaviour) -> list[Result | None]:
    """Surely more often the answer before, given how often each is given, than what the others differ by: random effects."""
    rate, error = _known(cards, "repetition"), _known(cards, "repetition_error")
    p, usual = lower_tail(-rate, error, PRIOR_SPREAD, PRIOR_DF)
    return [
        (
            float(p[i]),
            f"Repeats the previous answer: {100 * rate[i]:.0f}% of the way from a random order of own answers to always;"
            f" usual here: {max(0.0, -100 * usual[i]):.0f}%.",
        )
        if np.isfinite(p[i])
        else None
        for i in range(len(cards))
    ]


def _run(cards: list[AnnotatorCard], _: Behaviour) -> list[Result | None]:
    """One answer longer in a row than somebody gets who gives it as often, and repeats a tenth more than the others do."""
    rate = _known(cards, "repetition")
    results: list[Result | None] = []
    for i, card in enumerate(cards):
        others = np.delete(rate, i)
        if card.ordered_items < 2 or card.longest_run_share is None or not np.isfinite(others).any():
            results.append(None)
            continue
        usual = max(0.0, float(np.nanmedian(others)))
        again = card.longest_run_share + (1 - card.longest_run_share) * (usual + PRIOR_SPREAD)
        starts = card.ordered_items - card.longest_run + 1
        p = min(1.0, starts * again ** (card.longest_run - 1))  # Boole's inequality over the places where a run can start
        results.append((p, f"The same answer {card.longest_run} times in a row, of {card.ordered_items} items."))
    return results


def _side(cards: list[AnnotatorCard], _: Behaviour) -> list[Result | None]:
    """Surely over half the way from the others to one side always: exact binomial tests."""
    left, right = (np.array([getattr(card, side) for card in cards], dtype=float) for side in ("left", "right"))
    results: list[Result | None] = []
    for i, card in enumerate(cards):
        n, others = card.left + card.right, np.delete(left + right, i).sum()
        if n == 0 or others == 0:
            results.append(None)
            continue
        usual = float(np.delete(left, i).sum() / others)
        limits = (card.left, usual), (card.right, 1 - usual)
        p = min(1.0, 2 * min(float(scipy.stats.binom.sf(times - 1, n, share + HALF * (1 - share))) for times, share in limits))
        results.append((p, f"Preferred the left output in {card.left} of {n} judgments without a tie."))
    return results


def _below_the_others(total: str, right: str, words: str) -> Test:
    """A test that a share (right of total) is surely below HALF of the others': exact binomial test."""

    def test(cards: list[AnnotatorCard], _: Behaviour) -> list[Result | None]:
        results: list[Result | None] = []
        for card in cards:
            n, reached = getattr(card, total), getattr(card, right)
            others_n = sum(getattr(c, total) for c in cards if c is not card)
            if n == 0 or others_n == 0:
                results.append(None)
                continue
            usual = sum(getattr(c, right) for c in cards if c is not card) / others_n
            p = float(scipy.stats.binom.cdf(reached, n, HALF * usual))
            results.append((p, f"{words} {reached} of {n} times; the others in {100 * usual:.0f}%."))
        return results

    return test


def _speed(cards: list[AnnotatorCard], behaviour: Behaviour) -> list[Result | None]:
    """Surely more than half of the answers took less than FAST of the others' median time: exact binomial test."""
    who, seconds = np.asarray(behaviour.seconds[0]), np.asarray(behaviour.seconds[1], dtype=float)
    results: list[Result | None] = []
    for card in cards:
        usual = [c.seconds for c in cards if c is not card and c.seconds is not None]
        if card.seconds is None or not usual:
            results.append(None)
            continue
        limit = FAST * float(np.median(usual))
        own = seconds[who == card.annotator]
        fast = int((own < limit).sum())
        p = float(scipy.stats.binom.sf(fast - 1, len(own), HALF))
        results.append((p, f"{fast} of {len(own)} items took under {limit:.1f} s, a third of the others' usual time."))
    return results


# What each test weighs: only agreement finds who answers at random; a run or one answer always is beyond chance by far.
TESTS: dict[str, tuple[Test, float]] = {
    AGREEMENT: (_agreement, 30.0),
    "same answer": (_constancy, 6.0),
    "repetition": (_repetition, 3.0),
    "run": (_run, 1.0),
    "side": (_side, 1.0),
    "repeats": (_below_the_others("repeats", "repeats_same", "Gave the same answer to a repeated item"), 1.0),
    "gold": (_below_the_others("gold", "gold_right", "Gave the known answer"), 1.0),
    "speed": (_speed, 1.0),
}

"""Is a new version not worse than the old one by more than a margin? (Non-inferiority: ICH E9, 3.3.2.)

The two versions answered the same contexts, and somebody judged each pair. A context, or a group of contexts that are not
independent, is one observation: what the new version gained there, from -1 (lost) to 1 (won), ties 0, its judgments averaged.
The interval of the mean is a confidence sequence, so the verdict may be asked for after each new judgment: over all looks
together it is wrong with a probability of at most 1 - confidence.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from leaderboard.noninferiority.confidence_sequence import empirical_bernstein

CONFIDENCE = 0.95


class Word(str, Enum):
    PASS = "PASS"  # noqa: S105 - a verdict
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class Verdict:
    """gain: the mean, wins less losses of the new version, from -1 to 1. low, high: its interval, which holds at every look.
    margin: how much worse is tolerated. units: contexts or groups. judgments: of the pair; wins, ties, losses: of these."""

    word: Word
    gain: float
    low: float
    high: float
    margin: float
    units: int
    judgments: int
    wins: int
    ties: int
    losses: int
    confidence: float

    def sentence(self, new: str, old: str) -> str:
        """What it says, in words."""
        says = {
            Word.PASS: f"{new} is not worse than {old} by more than {self.margin:g}",
            Word.FAIL: f"{new} is worse than {old} by more than {self.margin:g}",
            Word.INCONCLUSIVE: f"it is not known whether {new} is worse than {old} by more than {self.margin:g}",
        }[self.word]
        interval = f"{self.gain:+.3f}, {100 * self.confidence:g}% interval {self.low:+.3f} to {self.high:+.3f}"
        units, judgments = (
            f"{n:,} {what}{'' if n == 1 else 's'}" for n, what in ((self.units, "unit"), (self.judgments, "judgment"))
        )
        return f"{self.word.value}: {says} (wins less losses {interval}; {units}, {judgments})."


def verdict(points: Sequence[float], units: Sequence[Hashable], margin: float, confidence: float = CONFIDENCE) -> Verdict:
    """points: of each judgment, 1 where the new version won, 0 for a tie, -1 where it lost; between these for a judge that
    states chances. units: of each judgment, its context or group; they are taken in the order in which they first come, so that
    a file may grow at its end.

    Raises ValueError where there is no judgment, a point is not from -1 to 1, or the margin is not from 0 to 1.
    """
    if not len(points) or len(points) != len(units):
        raise ValueError("There is no judgment of the two versions.")
    if not all(-1 <= point <= 1 for point in points):
        raise ValueError("A judgment lies from -1 to 1.")
    if not 0 <= margin < 1:
        raise ValueError("The margin lies from 0 to below 1.")
    of_unit: dict[Hashable, list[float]] = {}
    for point, unit in zip(points, units):
        of_unit.setdefault(unit, []).append(point)
    gains = np.array([np.mean(said) for said in of_unit.values()])  # (units,)
    lows, highs = empirical_bernstein((gains + 1) / 2, 1 - confidence)
    low, high = float(2 * lows[-1] - 1), float(2 * highs[-1] - 1)
    word = Word.PASS if low > -margin else Word.FAIL if high < -margin else Word.INCONCLUSIVE
    wins, ties, losses = (sum(int(np.sign(point)) == side for point in points) for side in (1, 0, -1))
    return Verdict(word, float(gains.mean()), low, high, margin, len(gains), len(points), wins, ties, losses, confidence)

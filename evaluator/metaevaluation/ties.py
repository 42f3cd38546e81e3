"""Are its ties worth anything? Macro-F1 over A / tie / B, against three judges that know nothing of ties."""

from dataclasses import dataclass

import numpy as np

CLASSES = np.array(["A", "tie", "B"])
RESAMPLES = 1000


@dataclass(frozen=True)
class Ties:
    """Macro-F1 out of fold, and by how much it exceeds each judge's, with 95% intervals bootstrapped over contexts."""

    macro_f1: float
    rate: float  # share of pairs that the comparator calls a tie
    above_never: tuple[float, float, float]  # against the same order without ties: difference, low, high
    above_majority: tuple[float, float, float]  # against people's most frequent answer always
    above_random: tuple[float, float, float]  # against as many ties, put anywhere


def measure_ties(decided: np.ndarray, d: np.ndarray, choices: np.ndarray, contexts: np.ndarray, seed: int) -> Ties | None:
    """decided (p,) the comparator's answers, d (p,) its differences, choices (p,) people's answers, contexts (p,) numbers.

    None where there is no pair.
    """
    if not len(choices):
        return None
    _, where = np.unique(contexts, return_inverse=True)
    rate = float((decided == "tie").mean())
    sides = np.where(d >= 0, "A", "B")  # (p,)
    majority = CLASSES[np.argmax([(choices == c).sum() for c in CLASSES])]
    judges = [
        _confusion(_certain(decided), choices, where),
        _confusion(_certain(sides), choices, where),
        _confusion(_certain(np.full(len(choices), majority)), choices, where),
        # What ties at random give on average: each pair is a tie by the rate, else its side.
        _confusion((1 - rate) * _certain(sides) + rate * (CLASSES == "tie"), choices, where),
    ]
    draws = np.random.default_rng(seed).integers(len(judges[0]), size=(RESAMPLES, len(judges[0])))  # (r, c)
    whole = [macro_f1(counts.sum(0)) for counts in judges]
    drawn = [macro_f1(counts[draws].sum(1)) for counts in judges]  # (r,) each

    def above(i: int) -> tuple[float, float, float]:
        low, high = np.quantile(drawn[0] - drawn[i], [0.025, 0.975])
        return float(whole[0] - whole[i]), float(low), float(high)

    return Ties(float(whole[0]), rate, above(1), above(2), above(3))


def macro_f1(counts: np.ndarray) -> np.ndarray:
    """Counts (..., 3 people's, 3 the judge's) -> (...,): the mean F1 of the classes that people or the judge use at all."""
    right = np.diagonal(counts, axis1=-2, axis2=-1)  # (..., 3)
    used = counts.sum(-1) + counts.sum(-2)  # (..., 3)
    f1 = np.divide(2 * right, used, out=np.zeros_like(used), where=used > 0)  # (..., 3)
    mean: np.ndarray = f1.sum(-1) / np.maximum((used > 0).sum(-1), 1)
    return mean


def _certain(answers: np.ndarray) -> np.ndarray:
    """(p,) -> (p, 3) one-hot"""
    certain: np.ndarray = (answers[:, None] == CLASSES).astype(float)
    return certain


def _confusion(answered: np.ndarray, choices: np.ndarray, where: np.ndarray) -> np.ndarray:
    """answered (p, 3) shares -> (contexts, 3 people's, 3 the judge's) counts"""
    counts = np.zeros((where.max() + 1, 3, 3))
    np.add.at(counts, where, _certain(choices)[:, :, None] * answered[:, None, :])
    return counts

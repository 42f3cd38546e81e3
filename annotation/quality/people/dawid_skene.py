"""How often an annotator names the right category, where nobody knows which is right: Dawid & Skene (1979),
"Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm", Applied Statistics 28(1).

crowd-kit has the same model; it would bring pandas, pyarrow and nltk for these forty lines, so the tests compare with
its results instead. Equation numbers are the paper's.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from annotation.quality.errors import UndefinedAgreement

MAX_ITERATIONS = 1000
TOLERANCE = 1e-9  # of the log-likelihood per unit


@dataclass(frozen=True)
class Competence:
    """values: (categories,); shares: (categories,), how common each truly is; errors: (annotators, true, answered);
    accuracy: (annotators,), the share of answers expected to name the true category, nan for who answered nothing."""

    values: np.ndarray
    shares: np.ndarray
    errors: np.ndarray
    accuracy: np.ndarray


def dawid_skene(annotator: ArrayLike, unit: ArrayLike, value: ArrayLike) -> Competence:
    """EM from the majority vote; annotator, unit: int, value: float, all (answers,), each value a category.

    Somebody may answer a unit several times.
    """
    annotator = np.asarray(annotator, dtype=np.int64)
    values, answer = np.unique(np.asarray(value, dtype=float), return_inverse=True)
    if len(values) < 2:
        raise UndefinedAgreement("All answers are equal, so nobody can be told from anybody.")
    _, unit = np.unique(unit, return_inverse=True)
    units, k, people = unit.max() + 1, len(values), annotator.max() + 1
    cell = annotator * k + answer  # of the category somebody gave

    truth = np.bincount(unit * k + answer, minlength=units * k).reshape(units, k).astype(float)
    truth /= truth.sum(axis=1, keepdims=True)  # (units, categories)
    before = -np.inf
    for _ in range(MAX_ITERATIONS):
        shares = truth.mean(axis=0)  # (2.4)
        confusion = np.stack([np.bincount(cell, truth[unit, j], minlength=people * k) for j in range(k)])
        confusion = confusion.reshape(k, people, k).transpose(1, 0, 2)  # (annotators, true, answered)
        times = confusion.sum(axis=2, keepdims=True)
        errors = np.divide(confusion, times, out=np.zeros_like(confusion), where=times > 0)  # (2.3)
        with np.errstate(divide="ignore"):
            evidence = np.log(errors).transpose(1, 0, 2).reshape(k, people * k)[:, cell]  # (categories, answers)
            log_joint = np.log(shares)[:, None] + np.stack([np.bincount(unit, row, minlength=units) for row in evidence])
        likelihood = np.logaddexp.reduce(log_joint, axis=0)  # (units,)
        truth = np.exp(log_joint - likelihood).T  # (2.5)
        fit = likelihood.mean()
        if fit - before < TOLERANCE:
            break
        before = fit
    answered = np.bincount(annotator, minlength=people) > 0
    accuracy = np.where(answered, np.einsum("j,ajj->a", shares, errors), np.nan)
    return Competence(values, shares, errors, accuracy)

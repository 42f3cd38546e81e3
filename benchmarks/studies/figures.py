"""Correlations with people's mean scores as JSON, and as cells of a table."""

from collections.abc import Sequence

import numpy as np
import scipy.stats

from annotation.quality.p_values import p_value
from evaluator.metaevaluation.correlation_levels import levels
from evaluator.metaevaluation.judges_table import PeopleScores

Figures = dict[str, list[float | None]]  # "sample_pearson", ...: value, low and high of its 95% interval, p, n


def correlations(u: np.ndarray, people: PeopleScores, seed: int) -> Figures:
    """u (n,); over outputs ("sample") and over systems. p: of no correlation, rows taken as independent, as the papers do."""
    found = levels(u, people.scores, people.contexts, people.systems, seed, ("pearson", "spearman"))
    known = np.isfinite(u) & np.isfinite(people.scores).any(axis=1)
    mean, systems = np.nanmean(people.scores[known], axis=1), people.systems[known]
    sides = {"sample": (u[known], mean), "system": (by_group(systems, u[known]), by_group(systems, mean))}
    p = {"pearson": scipy.stats.pearsonr, "spearman": scipy.stats.spearmanr}
    shown: Figures = {}
    for name, figure in found.items():
        level, measure = name.split("_")
        if level in sides:
            shown[name] = [figure.value, figure.low, figure.high, float(p[measure](*sides[level]).pvalue), figure.n]
    return shown


def by_group(groups: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The mean of each group's values, in the order of the groups' names"""
    return np.array([values[groups == one].mean() for one in np.unique(groups)])


def cell(given: Sequence[Sequence[float | None] | None]) -> str:
    """value [low, high] (p); of several seeds the mean and standard deviation of their values."""
    known = [one for one in given if one]
    if len(known) > 1:
        values = [one[0] for one in known]
        return f"{np.mean(values):.3f} (±{np.std(values, ddof=1):.3f})"
    if not known:
        return ""
    value, low, high, p, _ = known[0]
    interval = "" if low is None else f" [{low:.2f}, {high:.2f}]"
    return f"{value:.3f}{interval} (p {p_value(p)})"


def numbers(given: Sequence[float] | None, columns: int = 2, digits: int = 3) -> list[str]:
    """Cells of a paper's row; empty where it has none."""
    return [f"{value:.{digits}f}" for value in given] if given else [""] * columns

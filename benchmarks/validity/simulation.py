"""One simulated campaign: drawn, read by the board, and compared with the truth."""

import numpy as np
from scipy import stats

from benchmarks.validity import boards, generators
from benchmarks.validity.generators import Answers, Campaign

Record = dict  # of one simulated campaign, as `simulate` makes it


def simulate(campaign: Campaign, true: np.ndarray, seed: int) -> Record:
    """covered: share of the pairs of systems whose interval holds the true difference; width: the median of these intervals;
    difference: estimated, of each pair; ranks: do all rank intervals hold; false: is a system called better that is not;
    across: statements about systems that cannot be compared; tau, raw_tau: Kendall's, of the board's order and of the raw
    means' with the truth."""
    answers = generators.draw_answers(campaign, seed)
    stated = boards.read(campaign, answers)
    strengths = np.asarray(campaign.strengths)
    first, second = np.triu_indices(campaign.systems, 1)
    together = compared(campaign)
    pairs = together[first, second]
    first, second = first[pairs], second[pairs]
    error = np.abs(stated.difference - (true[:, None] - true[None, :]))[first, second]
    half_width = stated.half_width[first, second]
    return {
        "covered": float((error <= half_width).mean()),
        "width": float(np.median(2 * half_width)),
        "difference": np.round(stated.difference[first, second], 6).tolist(),
        "ranks": ranks_hold(stated, strengths),
        "false": bool((stated.above & together & (strengths[:, None] <= strengths[None, :])).any()),
        "across": statements_across(stated, together),
        **taus(stated, answers, strengths),
    }


def compared(campaign: Campaign) -> np.ndarray:
    """Which systems were judged on common contexts: bool (systems, systems)"""
    part = np.arange(campaign.systems) < campaign.apart
    return part[:, None] == part[None, :]


def ranks_hold(stated: boards.Statement, strengths: np.ndarray) -> bool:
    """Does every system have a rank, within its group, in its interval? Equal systems share their ranks, and each will do."""
    same = stated.component[:, None] == stated.component[None, :]
    best = 1 + (same & (strengths[None, :] > strengths[:, None])).sum(axis=1)
    worst = (same & (strengths[None, :] >= strengths[:, None])).sum(axis=1)
    return bool(((stated.rank_low <= worst) & (best <= stated.rank_high)).all())


def statements_across(stated: boards.Statement, together: np.ndarray) -> int:
    """How many times it is stated that a system is above one it was never compared with, or that the two can be compared, or
    a rank counts systems of the other group."""
    apart = ~together
    compared = stated.component[:, None] == stated.component[None, :]
    beyond = stated.rank_high > together.sum(axis=1)
    return int((stated.above & apart).sum() + (compared & apart).sum() // 2 + beyond.sum())


def taus(stated: boards.Statement, answers: Answers, strengths: np.ndarray) -> dict[str, float]:
    board = stated.difference.mean(axis=1)  # (s,) against the mean
    rounded = np.round(board, 9)
    found = {"tau": kendall(rounded, strengths)}
    if answers.system is not None:
        found["raw_tau"] = kendall(raw_means(answers, len(strengths)), strengths)
    return found


def raw_means(answers: Answers, systems: int) -> np.ndarray:
    """(systems,) mean of a system's scores, whoever gave them"""
    return np.bincount(answers.system, answers.value, systems) / np.bincount(answers.system, minlength=systems)


def kendall(estimate: np.ndarray, strengths: np.ndarray) -> float:
    """Kendall's tau b; 0 where all are equal, for there is no order."""
    tau = stats.kendalltau(estimate, strengths).statistic
    return 0.0 if np.isnan(tau) else float(tau)

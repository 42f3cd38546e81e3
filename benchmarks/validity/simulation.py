"""One simulated campaign: drawn, read by people's board, and compared with the truth. The one place where simulated campaigns
meet the estimator."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.validity import generators
from benchmarks.validity.generators import Answers, Campaign
from leaderboard.rating import decision, mixed_model, people_board
from leaderboard.rating.decision import CONFIDENCE
from leaderboard.rating.people_board import board_from_pairs, board_from_scores

Record = dict  # of one simulated campaign, as `simulate` makes it
MODULES = (people_board, mixed_model, decision)
SOURCES = [Path(str(module.__file__)) for module in MODULES]  # a change of these makes earlier simulations worthless


@dataclass(frozen=True)
class Statement:
    """For s systems, in points of the scale or in rating points. difference, half_width: (s, s), of i less j, with a 95%
    interval for this one difference; above: bool (s, s); rank_low, rank_high, component: int (s,)"""

    difference: np.ndarray
    half_width: np.ndarray
    above: np.ndarray
    rank_low: np.ndarray
    rank_high: np.ndarray
    component: np.ndarray


def read(campaign: Campaign, answers: Answers) -> Statement:
    """What people's board states about people in general."""
    who = answers.context, answers.annotator
    if campaign.design == "pairs":
        judged = answers.first, answers.second, answers.outcome
        board = board_from_pairs(campaign.systems, *judged, *who, group=answers.group)
    else:
        board = board_from_scores(campaign.systems, answers.system, *who, answers.value, group=answers.group)
    unit = board.scale or 1.0
    half_width = stats.t.ppf((1 + CONFIDENCE) / 2, board.df) * board.se / unit
    return Statement(board.difference / unit, half_width, board.above, board.rank_low, board.rank_high, board.component)


def simulate(campaign: Campaign, true: np.ndarray, seed: int) -> Record:
    """covered: share of the pairs of systems whose interval holds the true difference; width: the median of these intervals;
    difference: estimated, of each pair; ranks: do all rank intervals hold; false: is a system called better that is not;
    across: statements about systems that cannot be compared; tau, raw_tau: Kendall's, of the board's order and of the raw
    means' with the truth."""
    answers = generators.draw_answers(campaign, seed)
    stated = read(campaign, answers)
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


def ranks_hold(stated: Statement, strengths: np.ndarray) -> bool:
    """Does every system have a rank, within its group, in its interval? Equal systems share their ranks, and each will do."""
    same = stated.component[:, None] == stated.component[None, :]
    best = 1 + (same & (strengths[None, :] > strengths[:, None])).sum(axis=1)
    worst = (same & (strengths[None, :] >= strengths[:, None])).sum(axis=1)
    return bool(((stated.rank_low <= worst) & (best <= stated.rank_high)).all())


def statements_across(stated: Statement, together: np.ndarray) -> int:
    """How many times it is stated that a system is above one it was never compared with, or that the two can be compared, or
    a rank counts systems of the other group."""
    apart = ~together
    compared = stated.component[:, None] == stated.component[None, :]
    beyond = stated.rank_high > together.sum(axis=1)
    return int((stated.above & apart).sum() + (compared & apart).sum() // 2 + beyond.sum())


def taus(stated: Statement, answers: Answers, strengths: np.ndarray) -> dict[str, float]:
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

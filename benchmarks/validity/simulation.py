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
from leaderboard.rating.people_board import PeopleBoard, board_from_pairs, board_from_scores

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


def board_of(campaign: Campaign, answers: Answers) -> PeopleBoard:
    who = answers.context, answers.annotator
    if campaign.design == "pairs":
        judged = answers.first, answers.second, answers.outcome
        return board_from_pairs(campaign.systems, *judged, *who, group=answers.group)
    own = bool(campaign.turns)
    return board_from_scores(campaign.systems, answers.system, *who, answers.value, group=answers.group, own=own)


def stated(board: PeopleBoard) -> Statement:
    """What people's board states about people in general."""
    unit = board.scale or 1.0
    half_width = stats.t.ppf((1 + CONFIDENCE) / 2, board.df) * board.se / unit
    return Statement(board.difference / unit, half_width, board.above, board.rank_low, board.rank_high, board.component)


def simulate(campaign: Campaign, true: np.ndarray, seed: int) -> Record:
    """`beside`, and ranks: do all rank intervals hold; across: statements about systems that cannot be compared; tau, raw_tau:
    Kendall's, of the board's order and of the raw means' with the truth."""
    answers = generators.draw_answers(campaign, seed)
    said, strengths, together = stated(board_of(campaign, answers)), np.asarray(campaign.strengths), compared(campaign)
    return beside(said, true, strengths, together) | {
        "ranks": ranks_hold(said, strengths),
        "across": statements_across(said, together),
        **taus(said, answers, strengths),
    }


def beside(said: Statement, true: np.ndarray, strengths: np.ndarray, together: np.ndarray) -> Record:
    """covered: share of the pairs of systems whose interval holds the true difference; width: the median of these intervals;
    difference: estimated, of each pair; false: is a system called better that is not."""
    first, second = np.nonzero(np.triu(together, 1))
    error = np.abs(said.difference - (true[:, None] - true[None, :]))[first, second]
    half_width = said.half_width[first, second]
    return {
        "covered": float((error <= half_width).mean()),
        "width": float(np.median(2 * half_width)),
        "difference": np.round(said.difference[first, second], 6).tolist(),
        "false": bool((said.above & together & (strengths[:, None] <= strengths[None, :])).any()),
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

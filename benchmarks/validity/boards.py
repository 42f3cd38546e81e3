"""The one place where simulated campaigns meet the estimator: answers in, what people's board states out."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.validity.generators import Answers, Campaign
from leaderboard.rating import decision, mixed_model, people_board
from leaderboard.rating.decision import CONFIDENCE
from leaderboard.rating.people_board import board_from_pairs, board_from_scores

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

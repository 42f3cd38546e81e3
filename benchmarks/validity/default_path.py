"""Simulated campaigns through what people take: tables, the default filter, the default board. How often is a system called
better than its equal, how often do 95% intervals hold the truth, and how wide are they?

    python -m benchmarks.validity.default_path --n 200

A test imports two such campaigns with the commands and finds the same board. `--filtered` reads only what the filter kept."""

import time
from dataclasses import replace

import numpy as np
from scipy import stats

from annotation.quality.mad import keep_mask
from benchmarks.tables import head, options, row, share_error
from benchmarks.validity.crowds import Crowd, Entered, draw, scenarios
from leaderboard.rating.decision import CONFIDENCE
from leaderboard.rating.people_board import PeopleBoard, Reading, read_pairs, read_scores


def kept(entered: Entered) -> np.ndarray:
    """(scores,) what the default filter keeps, by the table that the assessment makes."""
    unit = entered.context * (entered.system.max() + 1) + entered.system
    _, column = np.unique(unit, return_inverse=True)
    _, row = np.unique(entered.person, return_inverse=True)
    table = np.full((row.max() + 1, column.max() + 1), np.nan)
    table[row, column] = entered.value
    return keep_mask(table)[row, column]


def read(crowd: Crowd, entered: Entered, filtered: bool = False, look: int = 1) -> Reading:
    """What the default board reads."""
    if crowd.form == "pairs":
        judged = entered.first, entered.second, entered.outcome, entered.pair_context, entered.pair_person
        return replace(read_pairs(crowd.systems, *judged), look=look)
    rows = kept(entered) if filtered else np.ones(len(entered.value), dtype=bool)
    columns = (entered.system, entered.context, entered.person, entered.value)
    return replace(read_scores(crowd.systems, *(column[rows] for column in columns)), look=look)


def board(crowd: Crowd, entered: Entered, filtered: bool = False, look: int = 1) -> PeopleBoard:
    """What the default board states."""
    return read(crowd, entered, filtered, look).board()


def errs(crowd: Crowd, seed: int, filtered: bool) -> tuple[bool, float, float]:
    """(is a system called better than its equal at any look, the share of pairs whose interval holds 0, the median width)"""
    entered, wrong = draw(crowd, seed), False
    for look in range(1, crowd.looks + 1):
        seen = entered.until(crowd.contexts * look // crowd.looks)
        found = board(crowd, seen, filtered, look)
        strength = np.asarray(crowd.strengths)
        wrong |= bool((found.above & (strength[:, None] <= strength[None, :])).any())
    pairs = np.triu_indices(crowd.systems, 1)
    reach = (stats.t.ppf((1 + CONFIDENCE) / 2, found.df) * found.se)[pairs]
    return wrong, float((np.abs(found.difference[pairs]) <= reach).mean()), float(np.median(2 * reach))


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--filtered", action="store_true", help="read only what the default filter keeps")
    asked = parser.parse_args()
    head("equal systems", "N", "called different", "SE", "95% intervals that hold 0", "median width, points", "seconds")
    for name, crowd in scenarios().items():
        if asked.only in name:
            start = time.process_time()
            found = [errs(crowd, asked.seed + k, asked.filtered) for k in range(asked.n)]
            wrong, covered, width = np.array(found, dtype=float).T
            rate, seconds = wrong.mean(), (time.process_time() - start) / asked.n
            error, held = f"{share_error(rate, asked.n):.1%}", f"{covered.mean():.1%}"
            row(name, asked.n, f"{rate:.1%}", error, held, f"{np.median(width):.0f}", f"{seconds:.2f}")


if __name__ == "__main__":
    main()

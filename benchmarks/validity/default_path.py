"""Simulated campaigns through what people take: tables, the default filter, which changes no board, the default board.

A test imports such campaigns with the commands and finds the same board."""

from dataclasses import replace

from benchmarks.validity.crowds import Crowd, Entered
from leaderboard.rating.people_board import PeopleBoard, read_pairs, read_scores


def board(crowd: Crowd, entered: Entered, look: int = 1) -> PeopleBoard:
    """What the default board states."""
    if crowd.form == "pairs":
        judged = entered.first, entered.second, entered.outcome, entered.pair_context, entered.pair_person
        return replace(read_pairs(crowd.systems, *judged), look=look).board()
    scores = entered.system, entered.context, entered.person, entered.value
    return replace(read_scores(crowd.systems, *scores), look=look).board()


def boards(crowd: Crowd, entered: Entered) -> list[PeopleBoard]:
    """At each look."""
    looks = range(1, crowd.looks + 1)
    return [board(crowd, entered.until(crowd.contexts * look // crowd.looks), look) for look in looks]

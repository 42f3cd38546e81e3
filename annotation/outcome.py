"""The answer to a pairwise question, as everyone in the house spells it."""

from __future__ import annotations

from enum import Enum


class Outcome(str, Enum):
    """Which of two outputs is better: A, neither, or B."""

    A = "A"
    TIE = "tie"
    B = "B"

    def swap(self) -> Outcome:
        """The same judgment with the two outputs shown on the other sides."""
        return {Outcome.A: Outcome.B, Outcome.TIE: Outcome.TIE, Outcome.B: Outcome.A}[self]

    @property
    def points(self) -> float:
        """What A earns: 1.0 for a win, 0.5 for a tie, 0.0 for a loss."""
        return {Outcome.A: 1.0, Outcome.TIE: 0.5, Outcome.B: 0.0}[self]

    @property
    def code(self) -> int:
        """0, 1, 2 for A, tie, B: the codes of the statistics rooms, which see only arrays."""
        return {Outcome.A: 0, Outcome.TIE: 1, Outcome.B: 2}[self]


CODES = {outcome.value: outcome.code for outcome in Outcome}
CHOICES = {outcome.code: outcome.value for outcome in Outcome}
# Other words for an outcome: arenas', MT-bench's, AutoArena's and AlpacaEval's. Both bad rates as a tie.
WORDS = dict.fromkeys(("a", "model_a", "assistant_a", "response_a", "1", "model 1", "[[a]]"), Outcome.A)
WORDS |= dict.fromkeys(("b", "model_b", "assistant_b", "response_b", "2", "model 2", "[[b]]"), Outcome.B)
WORDS |= dict.fromkeys(("tie", "-", "draw", "equal", "same", "0", "[[c]]"), Outcome.TIE)
BOTH_BAD = {"tie (bothbad)", "tie (both bad)", "both_bad", "bothbad", "both bad", "both are bad", "neither"}
WORDS |= dict.fromkeys(BOTH_BAD, Outcome.TIE)


def outcome_named(word: object) -> Outcome | None:
    """The outcome that a file's word or whole number stands for; None for any other."""
    if isinstance(word, bool) or not isinstance(word, str | int):
        return None
    return WORDS.get(str(word).strip().lower())


def is_both_bad(word: object) -> bool:
    """Does a file's word say of a tie that neither output is good?"""
    return isinstance(word, str) and word.strip().lower() in BOTH_BAD

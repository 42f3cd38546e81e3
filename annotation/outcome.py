"""The answer to a pairwise question, as everyone in the house spells it."""

from __future__ import annotations

import re
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


SIDES = {"left": Outcome.A, "right": Outcome.B}
CODES = {outcome.value: outcome.code for outcome in Outcome}
CHOICES = {outcome.code: outcome.value for outcome in Outcome}
# Other words for an outcome: arenas', MT-bench's, AutoArena's and AlpacaEval's. Both bad rates as a tie.
SIDE = re.compile(  # systems are seldom called so
    r"(\[\[)?(model_|assistant_|model (?=\d)|(response|output|answer|text|option)[ _])?(a|b|1|2)(?(1)\]\])( is better| wins)?"
)
WORDS = dict.fromkeys(
    ("tie", "tie (inconsistent)", "-", "draw", "equal", "same", "0", "[[c]]", "both are equal", "both equal"), Outcome.TIE
)
WORDS |= dict.fromkeys(("equally good", "both good", "both are good", "about the same", "no preference"), Outcome.TIE)
# How much better, as HelpSteer2-Preference counts it (Wang et al. 2024, arXiv 2410.01257): 2 is "better" and no more.
STRENGTHS = {"slightly": 1, "": 2, "much": 3}
HOW_MUCH = re.compile(
    r"(?P<side>.+?)( is)? ((?P<slightly>slightly|a little|a bit|marginally|somewhat)|much|significantly|far|a lot|strongly)"
    r"( better)?"
)
MARKS = {  # Arena-Hard's: A>B is "slightly better", A>>B "significantly better"
    "a>>b": ("a", "much"),
    "a>b": ("a", "slightly"),
    "a=b": ("tie", ""),
    "b>a": ("b", "slightly"),
    "b>>a": ("b", "much"),
}
BOTH_BAD = {"tie (bothbad)", "tie (both bad)", "both_bad", "bothbad", "both bad", "both are bad", "neither"}
WORDS |= dict.fromkeys(BOTH_BAD, Outcome.TIE)


def outcome_named(word: object) -> Outcome | None:
    """The outcome that a file's word or whole number stands for; None for any other."""
    if isinstance(word, bool) or not isinstance(word, str | int):
        return None
    said, _ = side_and_strength(str(word))
    if side := SIDE.fullmatch(said):
        return Outcome.A if side[4] in ("a", "1") else Outcome.B
    return WORDS.get(said)


def preference(choice: str, strength: str = "") -> int:
    """How much better A is, from -3 to 3; 0 of a tie."""
    return (1 - Outcome(choice).code) * STRENGTHS[strength]


def side_and_strength(word: str) -> tuple[str, str]:
    """(the side, how much better: a key of STRENGTHS) of a file's word, in small letters."""
    said = word.strip().lower()
    bare = said.replace(" ", "").removeprefix("[[").removesuffix("]]")
    if bare in MARKS:
        return MARKS[bare]
    found = HOW_MUCH.fullmatch(said)
    return (found["side"], "slightly" if found["slightly"] else "much") if found else (said, "")


def side_named(word: str, a: str, b: str, ours: bool = True) -> Outcome | None:
    """The side whose system is called so; None where neither is, or both are. ours: the word stands in our own column, where A,
    tie and B are sides whatever systems are called. All as they are compared (`spellings.folded`). Raises ValueError where the
    word stands for something else, too."""
    if (word == a) == (word == b) or (ours and word in ("a", "tie", "b")):
        return None
    side, other = (Outcome.A if word == a else Outcome.B), outcome_named(word) or SIDES.get(word)
    if other not in (None, side):
        raise ValueError(f"is the system on side {side.value}, and stands for {other.value}, too; rename the system")
    return side


def is_both_bad(word: object) -> bool:
    """Does a file's word say of a tie that neither output is good?"""
    return isinstance(word, str) and word.strip().lower() in BOTH_BAD

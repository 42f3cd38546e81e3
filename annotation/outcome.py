"""The answer to a pairwise question, as everyone in the house spells it."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
# Other words for an outcome: arenas', MT-bench's and AlpacaEval's. Both bad rates as a tie. A dash is none of them:
# AutoArena writes it for a tie, and surveys for no answer.
TEXT = "(response|output|answer|text|option)"
SIDE = re.compile(  # systems are seldom called so
    rf"(\[\[)?(model_|assistant_|model (?=\d)|{TEXT}[ _])?(?P<open>\()?(?P<side>[ab12])(?(open)\))(?(1)\]\])"
)
TIES = {"tie", "tie (inconsistent)", "draw", "same", "0", "[[c]]", "about the same", "no preference", "no difference"}
BOTH = f"(they|(both|the)( two)? {TEXT}s|both)"
TIED = re.compile(
    f"({BOTH}( are)? )?((about|roughly|nearly|almost) )?(equal|equally good|the same|tied)|both( {TEXT}s)?( are)? good"
    "|neither is better"
)
BOTH_BAD = re.compile(
    rf"(tie ?[-:(]? ?)?both[ _]?bad\)?|{BOTH}( are)? (equally )?(bad|poor|wrong)|equally bad|neither( {TEXT})?( is)? good"
)
NEITHER = {"neither", "neither one", "neither of them"}  # both bad, and elsewhere perhaps a tie
# How much better, as HelpSteer2-Preference counts it (Wang et al. 2024, arXiv 2410.01257): 2 is "better" and no more.
STRENGTHS = {"slightly": 1, "": 2, "much": 3}
HOW_MUCH = "((?P<slightly>slightly|a little|a bit|marginally|somewhat|weakly)|(?P<much>much|significantly|far|a lot|strongly))"
BETTER = (
    re.compile(f"(?P<side>.+?)( is)? {HOW_MUCH}( better| preferred)?"),
    re.compile("(?P<side>.+?)( is)? (better|preferred|wins)"),
    re.compile(f"({HOW_MUCH} )?prefers? (?P<side>.+)"),
)
MARKS = {  # Arena-Hard's: A>B is "slightly better", A>>B "significantly better"
    "a>>b": ("a", "much"),
    "a>b": ("a", "slightly"),
    "a=b": ("tie", ""),
    "a<b": ("b", "slightly"),
    "a<<b": ("b", "much"),
}
MARKS |= {"b>>a": MARKS["a<<b"], "b>a": MARKS["a<b"], "b=a": MARKS["a=b"], "b<a": MARKS["a>b"], "b<<a": MARKS["a>>b"]}
ONE_MARK = str.maketrans({"≫": ">>", "≪": "<<", "≈": "=", "~": "=", " ": ""})


def outcome_named(word: object) -> Outcome | None:
    """The outcome that a file's word or whole number stands for; None for any other."""
    if isinstance(word, bool) or not isinstance(word, str | int):
        return None
    said, (side, _) = str(word).strip().lower(), side_and_strength(str(word))
    if found := SIDE.fullmatch(side):
        return Outcome.A if found["side"] in "a1" else Outcome.B
    is_tie = side == "tie" or said in TIES or TIED.fullmatch(said) or is_both_bad(said)
    return Outcome.TIE if is_tie else None


def preference(choice: str, strength: str = "") -> int:
    """How much better A is, from -3 to 3; 0 of a tie."""
    return (1 - Outcome(choice).code) * STRENGTHS[strength]


def mark_of(word: str) -> str:
    """As the keys of MARKS are written, where it is one."""
    return word.strip().lower().translate(ONE_MARK).removeprefix("[[").removesuffix("]]")


def side_and_strength(word: str) -> tuple[str, str]:
    """(the side, how much better: a key of STRENGTHS) of a file's word, in small letters."""
    said, bare = word.strip().lower(), mark_of(word)
    if bare in MARKS:
        return MARKS[bare]
    found = next(filter(None, (pattern.fullmatch(said) for pattern in BETTER)), None)
    return (found["side"], _degree(found.groupdict())) if found else (said, "")


def strength_named(word: str) -> str | None:
    """How much better, of a word that says nothing else; None for any other."""
    found = re.fullmatch(f"{HOW_MUCH}( better)?|better", word)
    return _degree(found.groupdict()) if found else None


def _degree(found: Mapping[str, str | None]) -> str:
    return "slightly" if found.get("slightly") else "much" if found.get("much") else ""


CHOICE_SCALE = re.compile(r"\s*([-−]?\d{1,3})\s*(?:to|\.\.|…|:)\s*([-−]?\d{1,3})\s*")
ON_POINTS = {3: ("",), 5: ("slightly ", "much "), 7: ("slightly ", "", "much ")}  # before "better", from the tie outwards


def points_of(scale: str) -> tuple[int, int, int]:
    """(the number for the best of A, that for the best of B, how many points) of a scale in a file's words, "-3 to 3" or
    "7 to 1". Raises ValueError."""
    found = CHOICE_SCALE.fullmatch(scale)
    first, last = (int(end.replace("−", "-")) for end in found.groups()) if found else (0, 0)
    points = abs(last - first) + 1
    if points not in ON_POINTS:
        raise ValueError(
            "expected the number for the best of A and that for the best of B, 3, 5 or 7 points, as 1 to 7 or 3 to -3"
        )
    return first, last, points


def on_scale(number: int, scale: str) -> str:
    """What a number says on such a scale, in words. Raises ValueError."""
    first, last, points = points_of(scale)
    if not min(first, last) <= number <= max(first, last):
        raise ValueError(f"is {number}, which does not lie on the scale from {first} to {last}")
    away = abs(number - first) - points // 2
    return "tie" if not away else f"{'A' if away < 0 else 'B'} is {ON_POINTS[points][abs(away) - 1]}better"


def side_named(word: str, a: str, b: str, ours: bool = True) -> Outcome | None:
    """The side whose system is called so, or is said to be better; None where neither is, or both are. ours: the word stands in
    our own column, where A, tie and B are sides whatever systems are called. All as they are compared (`spellings.folded`).
    Raises ValueError where the word stands for something else, too."""
    name = next((name for name in (word, side_and_strength(word)[0]) if (name == a) != (name == b)), None)
    if name is None or (ours and name in ("a", "tie", "b")):
        return None
    side, other = (Outcome.A if name == a else Outcome.B), outcome_named(word) or SIDES.get(name)
    if other not in (None, side):
        raise ValueError(f"is the system on side {side.value}, and stands for {other.value}, too; rename the system")
    return side


def is_both_bad(word: object) -> bool:
    """Does a file's word say of a tie that neither output is good?"""
    said = word.strip().lower() if isinstance(word, str) else ""
    return said in NEITHER or BOTH_BAD.fullmatch(said) is not None

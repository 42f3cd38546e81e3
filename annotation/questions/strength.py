"""How much better one of two outputs is, and what else is said of a pair than its side: words, and how they are kept."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy

from annotation.outcome import Outcome, preference
from annotation.questions.columns import RANKING
from annotation.questions.kind import CANNOT_SAY_WORDS

BOTH_BAD = "both_bad"  # kept beside a tie, which it rates as
STRENGTH = "strength"  # kept beside A or B: a key of `outcome.STRENGTHS`, none where it is "better" and no more
BESIDE = (STRENGTH, BOTH_BAD, RANKING)
SIDES = {"left": Outcome.A, "tie": Outcome.TIE, "right": Outcome.B}
OF_POINTS = {3: ("",), 5: ("slightly", "much"), 7: ("slightly", "", "much")}  # from the tie outwards
LABELS = {
    (Outcome.A, "much"): gettext_lazy("A is much better"),
    (Outcome.A, ""): gettext_lazy("A is better"),
    (Outcome.A, "slightly"): gettext_lazy("A is slightly better"),
    (Outcome.TIE, ""): gettext_lazy("Tie"),
    (Outcome.B, "slightly"): gettext_lazy("B is slightly better"),
    (Outcome.B, ""): gettext_lazy("B is better"),
    (Outcome.B, "much"): gettext_lazy("B is much better"),
    (Outcome.TIE, BOTH_BAD): gettext_lazy("Both are bad"),
}


def sent_as(outcome: Outcome, beside: str) -> str:
    """How a page or a program says it: "left", "tie", "right"; "left_much"; "both_bad". "left" is the first in reading order,
    which a page from right to left shows on the right."""
    side = next(side for side, of in SIDES.items() if of == outcome)
    return BOTH_BAD if beside == BOTH_BAD else "_".join(filter(None, (side, beside)))


SENT = {sent_as(*said): said for said in LABELS}


def degree(choice: str, detail: Mapping[str, Any] | None = None) -> int:
    """From 0, A is much better, through 3, a tie, to 6, B is much better: in order, and no distances."""
    return 3 - preference(choice, said_strength(detail))


def said_strength(detail: Mapping[str, Any] | None) -> str:
    """How much better, of what is kept beside a judgment."""
    return (detail or {}).get(STRENGTH) or ""


def says_both_bad(detail: Mapping[str, Any] | None) -> bool:
    """Does what is kept beside a judgment say that neither output is good?"""
    return bool(detail and detail.get(BOTH_BAD))


def detail_of(strength: str, is_bad: bool) -> dict[str, Any] | None:
    if is_bad:
        return {BOTH_BAD: True}
    return {STRENGTH: strength} if strength else None


def words_of(choice: str, swapped: bool, detail: Mapping[str, Any] | None = None) -> str:
    """A stored choice as the person saw the sides."""
    if not choice:
        return str(CANNOT_SAY_WORDS)
    outcome = Outcome(choice).swap() if swapped else Outcome(choice)
    return str(LABELS[outcome, BOTH_BAD if says_both_bad(detail) else said_strength(detail)])

"""Two outputs side by side: A, a tie, or B, on the whole or on a criterion; on five or seven points with how much better."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from django.utils.functional import lazy
from django.utils.translation import get_language_bidi, gettext, gettext_lazy

from annotation.design.known_answer_check import wanted_choice
from annotation.models import Annotator, Assignment, Criterion, Output, PairwiseJudgment
from annotation.outcome import STRENGTHS, Outcome, is_both_bad, outcome_named, side_and_strength, strength_named
from annotation.quality.krippendorff import Level
from annotation.quality.report import JudgmentReport, assess_judgments
from annotation.quality.verdict import Asks
from annotation.questions.columns import PAIR_FIELDS, RANKING, cannot_say
from annotation.questions.kind import CANNOT_SAY, AgreementRule, Check, Given, Kind, Question, Widget
from annotation.questions.strength import (
    BOTH_BAD,
    LABELS,
    OF_POINTS,
    SENT,
    STRENGTH,
    degree,
    detail_of,
    said_strength,
    says_both_bad,
    sent_as,
    words_of,
)
from core.errors import Refused, quoted
from core.rowfiles import BadField, Row, shown

SAID_AS = {str(number): strength for strength, number in STRENGTHS.items()}  # in files


def _arrow(key: str) -> str:
    """The arrow points at the text: A is the first, which a page from right to left shows on the right."""
    is_left = (key == "a") != get_language_bidi()
    return f"<kbd>{key}</kbd> <kbd>{'←' if is_left else '→'}</kbd>"


_with_arrow = lazy(_arrow, str)


class PairWidget(Widget):
    @property
    def is_graded(self) -> bool:
        return self.question.kind.is_graded

    @property
    def sides(self) -> list[tuple[str, Any, bool, str]]:
        """(what is sent, words, is it chosen, the key that the page's script can't know)"""
        asked = self.question.kind.asked.items()  # type: ignore[attr-defined]
        return [(sent, LABELS[SENT[sent]], sent == self.value, key) for sent, key in asked]


class Pair(Kind):
    name = "pair"
    title = "a pair: A, tie or B"
    about = "Judgments: people's A / tie / B on pairs"
    sides = 2
    part, prefix = "choices", "choice"
    table = PairwiseJudgment
    files = "judgments"
    asks = Asks.TASTE
    is_repeated = True
    template = "includes/choice.html"
    keys = (
        (_with_arrow("a"), gettext_lazy("A is better")),
        ("<kbd>t</kbd>", gettext_lazy("Tie")),
        (_with_arrow("b"), gettext_lazy("B is better")),
        ("<kbd>d</kbd>", gettext_lazy("mark the differences, or hide the marks")),
    )
    columns = ("choice", STRENGTH, BOTH_BAD, RANKING, "reason", "shown_left")
    fields = PAIR_FIELDS
    elicited = 3

    def __init__(self, points: int = 3, both_bad: bool = False):
        """points: from A to B, 3, 5 or 7. both_bad: may a tie be said to be of two bad ones?"""
        strengths = OF_POINTS[points]
        said = [(Outcome.A, s) for s in reversed(strengths)] + [(Outcome.TIE, "")] + [(Outcome.B, s) for s in strengths]
        self.points, self.strengths, self.is_graded = points, strengths, points > 3
        self.asked = {sent_as(*one): str(place) if self.is_graded else "" for place, one in enumerate(said, start=1)}
        if both_bad:
            self.asked[BOTH_BAD] = "x"

    @property
    def answers_in_words(self) -> list[str]:
        return [str(LABELS[SENT[sent]]) for sent in self.asked]

    def keys_of(self, question: Question) -> Sequence[tuple[Any, Any]]:
        *sides, differences = self.keys
        own = [(f"<kbd>{key}</kbd>", LABELS[SENT[sent]]) for sent, key in self.asked.items() if key]
        return [*own, sides[1], differences] if self.is_graded else [*sides, *own, differences]

    def question_name(self, criterion: Criterion | None) -> str:
        return f"{criterion} (pairs)" if criterion else "Pairs"

    def fixed_by_answers(self, criterion: Any) -> tuple:
        return (criterion.name,)

    def field(self, question: Question) -> str:
        return super().field(question) if question.criterion else "choice"

    def posted(self, posted: Mapping[str, str]) -> dict[str, Any]:
        answers = super().posted(posted)
        return answers | ({"choice": posted["choice"]} if "choice" in posted else {})

    def sent(self, answer: Mapping[str, Any], question: Question) -> Any:
        side = super().sent(answer, question) if question.criterion else answer.get("choice")
        return side if isinstance(side, str) and (side in SENT or side == CANNOT_SAY) else None

    def widget(self, question: Question, answer: Mapping[str, Any], was_refused: bool) -> PairWidget:
        plain = super().widget(question, answer, was_refused)
        return PairWidget(plain.question, plain.value, plain.is_missing)

    def given(self, question: Question, sent: Any) -> Given:
        if sent == CANNOT_SAY and question.cannot_say:
            return Given(None)
        if sent not in self.asked:
            raise Refused(self.please([question]))
        outcome, beside = SENT[sent]
        return Given(outcome, detail_of(beside, beside == BOTH_BAD))

    def please(self, questions: Sequence[Question]) -> str:
        names = [question.criterion.name for question in questions if question.criterion]
        if not names:
            return gettext("Choose the better text, or a tie.")
        return gettext("Please also judge: %(criteria)s.") % {"criteria": ", ".join(names)}

    def row(self, question: Question, assignment: Assignment, given: Given, reason: str) -> PairwiseJudgment:
        item, choice = assignment.item, given.value
        if choice is not None and assignment.swapped:
            choice = choice.swap()
        return PairwiseJudgment(
            output_a_id=item.output_id,
            output_b_id=item.other_id,  # type: ignore[misc]  # an item of pairs has one
            criterion=question.criterion,
            choice=choice.value if choice else "",
            cannot_say=given.cannot_say,
            detail=given.detail,
            reason=reason,
            shown_swapped=assignment.swapped,
        )

    def in_words(self, sent: Any) -> str:
        return str(LABELS[SENT[sent]] if sent in SENT else "") if sent != CANNOT_SAY else super().in_words(sent)

    def row_in_words(self, row: PairwiseJudgment, swapped: bool = False) -> str:
        return words_of(row.choice, swapped, row.detail)

    def known(self, criterion: Criterion | None, answer: Any) -> str:  # type: ignore[override]
        for outcome in Outcome:
            if isinstance(answer, str) and answer.strip().lower() == outcome.value.lower():
                return outcome.value
        raise Refused(f"The right choice is A, tie or B, not {quoted(str(answer))}.")

    def as_given(self, row: PairwiseJudgment) -> str:
        return row.choice or CANNOT_SAY

    def checked(self, row: PairwiseJudgment, expected: Mapping[str, Any], swapped: bool) -> Check | None:
        """swapped: the sides as they were shown, since A and B are written as the person saw them."""
        wanted = wanted_choice(expected, row.criterion.name if row.criterion else "")
        if not wanted:
            return None
        what = row.criterion.name if row.criterion else ""
        return Check(what, self.row_in_words(row, swapped), words_of(wanted, swapped), row.choice == wanted)

    def cells(self, row: PairwiseJudgment) -> dict[str, Any]:
        return {
            "choice": row.choice or None,
            STRENGTH: said_strength(row.detail) or None,
            BOTH_BAD: says_both_bad(row.detail),
            RANKING: (row.detail or {}).get(RANKING),
            "reason": row.reason or None,
            "shown_left": {None: None, True: "B", False: "A"}[row.shown_swapped],
        }

    def imported(self, row: Row, criterion: Criterion | None) -> Given:
        """About the row's A and B; raises BadField."""
        said = row.get("choice")
        if cannot_say(row, "choice"):
            return Given(None)
        outcome = outcome_named(said)
        side, strength = side_and_strength(said) if isinstance(said, str) else ("", "")
        if outcome is None:
            outcome = _shown_side(row, side)
        strength = self.strength(row, outcome, strength)
        bad = is_both_bad(said) or row.truth(BOTH_BAD)
        if bad and outcome != Outcome.TIE:
            raise BadField(BOTH_BAD, f"is true, and the choice is {outcome.value}")
        return Given(outcome, detail_of(strength, bad))

    def strength(self, row: Row, outcome: Outcome, in_choice: str = "") -> str:
        """How much better a row of a file says that one side is; raises BadField. in_choice: what the choice itself says."""
        cell = row.get(STRENGTH)
        said = f"{cell:g}" if isinstance(cell, float) else str("" if cell is None else cell).strip().lower()
        nothing = "" if not said or (said == "0" and outcome == Outcome.TIE) else None
        own = SAID_AS.get(said, strength_named(said) or nothing)
        strength = in_choice or own or ""
        if own not in STRENGTHS or (in_choice and own not in ("", in_choice)):
            raise BadField(STRENGTH, f"expected slightly or much, or nothing for better, found {shown(said)}")
        if outcome == Outcome.TIE and strength:
            raise BadField(STRENGTH, f"is {strength}, and the choice is a tie")
        if self.is_graded and outcome != Outcome.TIE and strength not in self.strengths:
            wanted = " or ".join(one or "nothing" for one in self.strengths)
            raise BadField(STRENGTH, f"expected {wanted}, as pairs are judged on {self.points} points, found {shown(said)}")
        return strength

    def imported_row(
        self,
        criterion: Criterion | None,
        a: Output,
        b: Output,
        annotator: Annotator,
        given: Given,
        reason: str,
        swapped: bool | None,
    ) -> PairwiseJudgment:
        """An unsaved row about a and b in the order in which a pair is stored."""
        return PairwiseJudgment(
            annotator=annotator,
            output_a=a,
            output_b=b,
            criterion=criterion,
            choice=given.value.value if given.value else "",
            cannot_say=given.cannot_say,
            detail=given.detail,
            reason=reason,
            shown_swapped=swapped,
        )

    def assess(self, values: np.ndarray, rule: AgreementRule) -> JudgmentReport:
        """values: of `degree` where it is graded, else outcomes' codes."""
        if not self.is_graded:
            return assess_judgments(values, seed=rule.seed)
        points = sorted(degree(side.value, detail_of(s, False)) for side in (Outcome.A, Outcome.B) for s in self.strengths)
        return assess_judgments(values, seed=rule.seed, level="ordinal", points=sorted([*points, degree(Outcome.TIE.value)]))

    @property
    def reversal(self) -> float:
        return 2.0 * (degree(Outcome.TIE.value) if self.is_graded else Outcome.TIE.code)

    def level(self, rule_level: Level) -> Level:
        return "ordinal" if self.is_graded else "nominal"

    def sign(self, best: str) -> int:
        """A preference is for the better one, whichever end of a scale that would be."""
        return 1


@cache
def pair_of(points: int, both_bad: bool) -> Pair:
    """The kind as a campaign asks it."""
    return Pair(points, both_bad)


NUMBER = re.compile(r'"?[-+−]?\d+([.,]\d+)?"?')
OF_NUMBER = (
    "; a number does not say which side it is for: say what they mean (choice_scale, as 1 to 7, where 1 is the best of A), or"
    " write A or B, and strength"
)


def _shown_side(row: Row, side: str) -> Outcome:
    """The output that stood there; raises BadField where the word says neither."""
    if side not in ("left", "right"):
        said = shown(row.get("choice"))
        raise BadField("choice", f"expected A, tie or B, found {said}{OF_NUMBER if NUMBER.fullmatch(str(said)) else ''}")
    left = shown_left(row)
    if left is None:
        raise BadField("choice", f"is {side}, but shown_left does not say which of A and B stood there")
    return Outcome(left) if side == "left" else Outcome(left).swap()


def shown_left(row: Row) -> str | None:
    """Which of the row's A and B stood on the left: A, unless the file says otherwise; None where it says that nobody knows."""
    if "shown_left" not in row.fields:
        return "A"
    value = row.get("shown_left")
    if value not in (None, "", "A", "B"):
        raise BadField("shown_left", f"expected A or B, or nothing where it is not known, found {shown(value)}")
    return value or None

"""Two outputs side by side: A, a tie, or B, on the whole or on a criterion."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.utils.functional import lazy
from django.utils.translation import get_language_bidi, gettext, gettext_lazy

from annotation.design.known_answer_check import wanted_choice
from annotation.models import Annotator, Assignment, Criterion, Output, PairwiseJudgment
from annotation.outcome import Outcome, is_both_bad, outcome_named
from annotation.quality.krippendorff import Level
from annotation.quality.report import JudgmentReport, assess_judgments
from annotation.quality.verdict import Asks
from annotation.questions.columns import PAIR_FIELDS, is_cannot_say
from annotation.questions.kind import CANNOT_SAY, CANNOT_SAY_WORDS, AgreementRule, Check, Given, Kind, Question, Widget
from core.errors import Refused, quoted
from core.rowfiles import BadField, Row, shown

BOTH_BAD = "both_bad"  # kept beside a tie, which it rates as
OUTCOME_OF_SIDE = {"left": Outcome.A, "tie": Outcome.TIE, "right": Outcome.B}
# In reading order: "left" is the first, which a page from right to left shows on the right.
SIDE_LABELS = (("left", gettext_lazy("A is better")), ("tie", gettext_lazy("Tie")), ("right", gettext_lazy("B is better")))


def _arrow(key: str) -> str:
    """The arrow points at the text: A is the first, which a page from right to left shows on the right."""
    is_left = (key == "a") != get_language_bidi()
    return f"<kbd>{key}</kbd> <kbd>{'←' if is_left else '→'}</kbd>"


_with_arrow = lazy(_arrow, str)


class PairWidget(Widget):
    @property
    def sides(self) -> list[tuple[str, Any, bool]]:
        return [(side, words, side == self.value) for side, words in SIDE_LABELS]


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
    columns = ("choice", BOTH_BAD, "reason", "shown_left")
    fields = PAIR_FIELDS

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
        return side if isinstance(side, str) and (side in OUTCOME_OF_SIDE or side == CANNOT_SAY) else None

    def widget(self, question: Question, answer: Mapping[str, Any], was_refused: bool) -> PairWidget:
        plain = super().widget(question, answer, was_refused)
        return PairWidget(plain.question, plain.value, plain.is_missing)

    def given(self, question: Question, sent: Any) -> Given:
        if sent == CANNOT_SAY and question.cannot_say:
            return Given(None)
        if sent not in OUTCOME_OF_SIDE:
            raise Refused(self.please([question]))
        return Given(OUTCOME_OF_SIDE[sent])

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
        return str(dict(SIDE_LABELS).get(sent, "")) if sent != CANNOT_SAY else super().in_words(sent)

    def row_in_words(self, row: PairwiseJudgment, swapped: bool = False) -> str:
        return _in_words(row.choice, swapped)

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
        return Check(what, _in_words(row.choice, swapped), _in_words(wanted, swapped), row.choice == wanted)

    def cells(self, row: PairwiseJudgment) -> dict[str, Any]:
        return {
            "choice": row.choice or None,
            BOTH_BAD: says_both_bad(row.detail),
            "reason": row.reason or None,
            "shown_left": {None: None, True: "B", False: "A"}[row.shown_swapped],
        }

    def imported(self, row: Row, criterion: Criterion | None) -> Given:
        """About the row's A and B; raises BadField."""
        if row.truth(CANNOT_SAY) or is_cannot_say(row.get("choice")):
            return Given(None)
        if (outcome := outcome_named(row.get("choice"))) is not None:
            bad = is_both_bad(row.get("choice")) or row.truth(BOTH_BAD)
            if bad and outcome != Outcome.TIE:
                raise BadField(BOTH_BAD, f"is true, and the choice is {outcome.value}")
            return Given(outcome, {BOTH_BAD: True} if bad else None)
        word = row.text("choice").strip().lower()
        if word in ("left", "right"):
            left = shown_left(row)
            if left is None:
                raise BadField("choice", f"is {word}, but shown_left does not say which of A and B stood there")
            return Given(Outcome(left) if word == "left" else Outcome(left).swap())
        raise BadField("choice", f"expected A, tie or B, found {shown(row.get('choice'))}")

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
        return assess_judgments(values, seed=rule.seed)

    def level(self, rule_level: Level) -> Level:
        return "nominal"

    def sign(self, best: str) -> int:
        """A preference is for the better one, whichever end of a scale that would be."""
        return 1


def says_both_bad(detail: Mapping[str, Any] | None) -> bool:
    """Does what is kept beside a judgment say that neither output is good?"""
    return bool(detail and detail.get(BOTH_BAD))


def shown_left(row: Row) -> str | None:
    """Which of the row's A and B stood on the left: A, unless the file says otherwise; None where it says that nobody knows."""
    if "shown_left" not in row.fields:
        return "A"
    value = row.get("shown_left")
    if value not in (None, "", "A", "B"):
        raise BadField("shown_left", f"expected A or B, or nothing where it is not known, found {shown(value)}")
    return value or None


def _in_words(choice: str, swapped: bool) -> str:
    """A stored choice as the person saw the sides."""
    if not choice:
        return str(CANNOT_SAY_WORDS)
    outcome = Outcome(choice).swap() if swapped else Outcome(choice)
    return {Outcome.A: gettext("A is better"), Outcome.TIE: gettext("Tie"), Outcome.B: gettext("B is better")}[outcome]

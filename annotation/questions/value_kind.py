"""Kinds whose answer is a number about one output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from django.utils.translation import gettext

from annotation.design.known_answer_check import wanted_values
from annotation.models import Annotator, Assignment, Criterion, LikertScore, Output
from annotation.quality.report import ScoreReport, assess_scores
from annotation.questions.columns import cannot_say, is_cannot_say
from annotation.questions.kind import CANNOT_SAY, CANNOT_SAY_WORDS, AgreementRule, Check, Given, Kind, Question
from core.errors import Refused, quoted, shortened
from core.rowfiles import BadField, Row, shown


class ValueKind(Kind):
    """A number about one output, on a criterion from `low` to `high`."""

    part, prefix = "scores", "score"
    table = LikertScore
    columns: ClassVar[Sequence[str]] = ("scale", "score")
    value_column = "score"
    is_told_by_detail: ClassVar[bool] = False  # does `told` read what is kept beside the number?

    @property
    def number_column(self) -> str:
        """The column of an export that has the number which counts."""
        return self.value_column

    def typed(self, text: str) -> int | None:
        try:
            value = int(text or "")
        except ValueError:
            return None
        return value if abs(value) < 2**63 else None

    def given(self, question: Question, sent: Any) -> Given:
        criterion = question.criterion
        assert criterion is not None, "asked on a criterion"
        if sent == CANNOT_SAY and question.cannot_say:
            return Given(None)
        try:
            value = int(sent)
            if isinstance(sent, float) and sent != value:
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            message = gettext("%(criterion)s: choose one of the points of its scale.")
            raise Refused(message % {"criterion": criterion.name}) from None
        if value not in criterion.points:
            about = {"criterion": criterion.name, "low": criterion.low, "high": criterion.high}
            raise Refused(gettext("%(criterion)s: choose a point from %(low)s to %(high)s.") % about)
        return Given(value)

    def row(self, question: Question, assignment: Assignment, given: Given, reason: str) -> LikertScore:
        """A comment on scores stays with the submission."""
        row = LikertScore(output_id=assignment.item.output_id, criterion=question.criterion, value=given.value)
        row.cannot_say, row.detail = given.cannot_say, given.detail
        return row

    def row_in_words(self, row: LikertScore) -> str:
        return str(CANNOT_SAY_WORDS) if row.value is None else self.value_in_words(row.criterion, row.value)

    def value_in_words(self, criterion: Criterion, value: float) -> str:
        """As the annotator saw it."""
        return f"{value:g}"

    def known(self, criterion: Criterion, answer: Any) -> list:
        values = answer if isinstance(answer, list) else [answer]
        if not values:
            raise Refused(f"{criterion.name}: at least one right score was expected.")
        numbers = [value for value in values if not (criterion.cannot_say and is_cannot_say(value))]
        for value in numbers:
            if isinstance(value, bool) or value not in criterion.points:
                scale = f"{criterion.low} to {criterion.high}"
                raise Refused(f"{criterion.name}: {shortened(str(value))} is not a point of its scale ({scale}).")
        return sorted({int(value) for value in numbers}) + ([CANNOT_SAY] if len(numbers) < len(values) else [])

    def as_given(self, row: LikertScore) -> float | str:
        return CANNOT_SAY if row.value is None else row.value

    def checked(self, row: LikertScore, expected: Mapping[str, Any], swapped: bool) -> Check | None:
        wanted = wanted_values(expected, self.part, row.criterion.name)
        if not wanted:
            return None
        says = partial(self.value_in_words, row.criterion)
        words = [str(CANNOT_SAY_WORDS) if value == CANNOT_SAY else says(value) for value in wanted]
        given = self.as_given(row)
        return Check(row.criterion.name, self.row_in_words(row), gettext(" or ").join(words), given in wanted)

    def cells(self, row: LikertScore) -> dict[str, Any]:
        return {"scale": [row.criterion.low, row.criterion.high], self.value_column: row.value}

    def imported(self, row: Row, criterion: Criterion) -> Given:
        """An answer that a file holds; raises BadField."""
        if cannot_say(row, self.value_column):
            return Given(None)
        value = row.number(self.value_column)
        if not criterion.low <= value <= criterion.high:
            scale = f"{criterion.low} to {criterion.high}"
            raise BadField(self.value_column, f"is {value:g}, outside the scale {scale} of {quoted(criterion.name)}")
        return Given(value)

    def imported_row(self, criterion: Criterion, output: Output, annotator: Annotator, given: Given) -> LikertScore:
        """An unsaved row of `table`."""
        row = LikertScore(criterion=criterion, output=output, annotator=annotator, value=given.value)
        row.cannot_say, row.detail = given.cannot_say, given.detail
        return row

    def unsaid_in_words(self, answers: Iterable[tuple[LikertScore, Mapping[str, Any]]]) -> str:
        """What an import says of new answers, each with what is suggested for its output; empty for nothing."""
        return ""

    def suggestion(self, row: Row, criterion: Criterion, output: Output) -> dict[str, Any]:
        """What a row says that annotators are to begin with, {"by": whose it is, ...}, where the kind takes suggestions; raises
        BadField."""
        raise NotImplementedError

    def imported_settings(self, row: Row) -> dict[str, Any]:
        """What a row of a file says of its criterion, by the criterion's fields; raises BadField."""
        return imported_direction(row)

    def new_settings(self, row: Row, name: str) -> dict[str, Any]:
        """The fields of a criterion that a file is the first to name; raises BadField."""
        return self.imported_settings(row)

    def wrong_unit(self, criterion: Criterion, answers: Sequence[tuple[str, float]]) -> str:
        """Why a file's answers, each with its annotator, can hardly be points of the scale; empty: nothing says so."""
        return ""

    def remarks(self, criterion: Criterion, values: Sequence[float]) -> str:
        """What whoever sends a file should know of its answers; empty: nothing."""
        return ""

    def told(self, value: float | None, detail: Mapping[str, Any] | None) -> Any:
        """What two answers have in common that are the same one."""
        return value

    def told_in_words(self, told: Any) -> str:
        return "empty" if told is None else f"{told:g}"

    def assess(self, values: np.ndarray, rule: AgreementRule) -> ScoreReport:
        return assess_scores(values, self.level(rule.level), rule.mad, rule.on_zero_mad, seed=rule.seed, points=rule.points)


DIRECTIONS = {"high": "high", "highest": "high", "higher": "high", "low": "low", "lowest": "low", "lower": "low"}


def imported_direction(row: Row) -> dict[str, str]:
    said = row.get("best")
    if said in (None, ""):
        return {}
    word = str(said).strip().lower()
    if word not in DIRECTIONS:
        raise BadField("best", f"expected high or low, found {shown(said)}")
    return {"best": DIRECTIONS[word]}

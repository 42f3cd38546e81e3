"""Marked errors in files: what they are called, their columns, and what they weigh where nobody says otherwise."""

from dataclasses import replace

from annotation.questions.columns import CONDITION, AnswerFile, Field, maybe
from annotation.questions.spans.method import MQM
from core.rows import Row

SPANS = "spans"
SPAN_FIELDS = (
    Field(
        "errors",
        'a list of {"start", "end", "severity", "category"}; [] where there is none',
        others=("error_spans", "spans", "marks"),
    ),
    maybe("scheme", "severities and categories with their weights; a new criterion without it has MQM's"),
    maybe("score", "the sum of the errors' weights, checked where it is given"),
    maybe("best", "low, which it always is"),
    maybe("cannot_say", "true where the person could not say"),
    maybe("suggestion", "true where the errors are to be suggested to this campaign's annotators, and the annotator made them"),
    maybe("suggested_by", "who had marked what the annotator was shown"),
    maybe("suggested", "what was shown, as errors"),
    CONDITION,
)


def weighed(row: Row) -> Row:
    """Another tool's marked errors as the sum of their published weights; the lowest is best."""
    score = sum(MQM.weight(error["severity"], error["category"]) for error in row.get("errors", []))
    return replace(row, fields=row.fields | {"score": round(score, 6), "best": "low"})


SPANS_FILE = AnswerFile(1, SPAN_FIELDS, "people's marked errors", weighed)

"""Batch results of Mechanical Turk: Input columns hold what was shown, Answer columns what was said."""

from collections.abc import Iterator

from annotation.data.fields import guess
from annotation.data.shapes.pairs import has_sides, outputs_of, sides_of
from annotation.data.shapes.shape import JUDGMENTS, OUTPUTS, SCORES, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import point

INPUT, ANSWER = "Input.", "Answer."


def _recognises(fields: Fields) -> bool:
    return "WorkerId" in fields and any(column.startswith(INPUT) for column in fields)


def _entries(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    shown = {column.removeprefix(INPUT): value for column, value in fields.items() if column.startswith(INPUT)}
    answers = {column.removeprefix(ANSWER): value for column, value in fields.items() if column.startswith(ANSWER)}
    pair = has_sides(shown | sides_of(shown))
    for output in outputs_of(shown) if pair else [shown]:
        yield Entry(OUTPUTS, output)
    known = shown | {"annotator": fields["WorkerId"]}
    columns = guess("judgments", list(answers))
    choice = columns.get("choice") if pair else None
    for name, value in answers.items():
        kind = JUDGMENTS if name == choice else SCORES
        if fields.get("AssignmentStatus") == "Rejected" or fields.get("RejectionTime"):
            yield LeftOut(kind, "was rejected by the requester")
        elif value in (None, ""):
            yield LeftOut(kind, f"has no answer to {name}")
        elif name == choice:
            yield Entry(JUDGMENTS, known | {"choice": value} | ({"reason": answers["reason"]} if "reason" in answers else {}))
        elif name != "reason":
            value = point(value)
            yield (
                LeftOut(SCORES, f"names no single point of {name}")
                if value is None
                else Entry(SCORES, known | {"aspect": name, "score": value})
            )


MTURK = Shape(
    name="Mechanical Turk results",
    address="https://docs.aws.amazon.com/AWSMechTurk/latest/RequesterUI/ViewingBatchResults.html",
    kinds=(OUTPUTS, SCORES, JUDGMENTS),
    recognises=_recognises,
    entries=_entries,
    guess="Each Answer column with numbers is a criterion. Rejected assignments are left out.",
)

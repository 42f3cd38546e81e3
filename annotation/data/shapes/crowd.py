"""Batch results of Mechanical Turk: Input columns hold what was shown, Answer columns what was said."""

import json
from collections.abc import Iterator

from annotation.data.fields import guess
from annotation.data.shapes.pairs import has_sides, names_side, outputs_of, sides_of
from annotation.data.shapes.shape import JUDGMENTS, OUTPUTS, SCORES, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import point
from core.rows import BadField

INPUT, ANSWER = "Input.", "Answer."


def _recognises(fields: Fields) -> bool:
    return "WorkerId" in fields and any(column.startswith(INPUT) for column in fields)


def _entries(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    shown = {column.removeprefix(INPUT): value for column, value in fields.items() if column.startswith(INPUT)}
    answers = _answers({column.removeprefix(ANSWER): value for column, value in fields.items() if column.startswith(ANSWER)})
    pair = has_sides(shown | sides_of(shown))
    for output in outputs_of(shown) if pair else [shown]:
        yield Entry(OUTPUTS, output)
    known = shown | {"annotator": fields["WorkerId"]}
    named = guess("judgments", list(answers)).get("choice")
    choices = [name for name, value in answers.items() if pair and (name == named or names_side(value))]
    for name, value in answers.items():
        kind = JUDGMENTS if name in choices else SCORES
        if fields.get("AssignmentStatus") == "Rejected" or fields.get("RejectionTime"):
            yield LeftOut(kind, "was rejected by the requester")
        elif value in (None, ""):
            yield LeftOut(kind, f"has no answer to {name}")
        elif kind == JUDGMENTS:
            about = {"aspect": name} if len(choices) > 1 else {}
            reason = {"reason": answers["reason"]} if "reason" in answers else {}
            yield Entry(JUDGMENTS, known | about | {"choice": value} | reason)
        elif name != "reason":
            value = point(value)
            yield (
                LeftOut(SCORES, f"names no single point of {name}")
                if value is None
                else Entry(SCORES, known | {"aspect": name, "score": value})
            )


def _answers(columns: Fields) -> Fields:
    """By question. crowd-form writes all answers as JSON in taskAnswers; of radio buttons, each has a true or false."""
    answers: Fields = {}
    buttons: dict[str, dict[str, bool]] = {}
    for column, value in (columns | _task_answers(columns)).items():
        name, _, button = column.rpartition(".")
        if name and isinstance(word := str(value).lower(), str) and word in ("true", "false"):
            buttons.setdefault(name, {})[button] = word == "true"
        elif column != "taskAnswers":
            answers[column] = value
    for name, pressed in buttons.items():
        chosen = [button for button, is_on in pressed.items() if is_on]
        answers[name] = chosen[0] if len(chosen) == 1 else None
    return answers


def _task_answers(columns: Fields) -> Fields:
    said = columns.get("taskAnswers")
    if isinstance(said, str):
        try:
            said = json.loads(said)
        except (ValueError, RecursionError):
            raise BadField(f"{ANSWER}taskAnswers", "is not JSON") from None
    found: Fields = {}
    for part in said if isinstance(said, list) else []:
        for name, value in part.items() if isinstance(part, dict) else ():
            buttons = isinstance(value, dict)
            found |= {f"{name}.{button}": is_on for button, is_on in value.items()} if buttons else {name: value}
    return found


MTURK = Shape(
    name="Mechanical Turk results",
    address="https://docs.aws.amazon.com/AWSMechTurk/latest/RequesterUI/ViewingBatchResults.html",
    kinds=(OUTPUTS, SCORES, JUDGMENTS),
    recognises=_recognises,
    entries=_entries,
    guess="Each Answer column with numbers is a criterion, and one with the words of a side (left, A, same) a choice between "
    "two texts. Rejected assignments are left out.",
)

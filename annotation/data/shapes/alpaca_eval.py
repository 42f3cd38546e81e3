"""AlpacaEval's outputs and annotations."""

from collections.abc import Iterator
from typing import Any

from annotation.data.shapes.pairs import outputs_of
from annotation.data.shapes.shape import JUDGE_PAIRS, JUDGMENTS, OUTPUTS, Entry, Fields, LeftOut, Shape, Surroundings, nothing
from annotation.data.shapes.values import number
from core.rows import BadField, shown

ANNOTATION = {"instruction", "output_1", "generator_1", "output_2", "generator_2"}
GUESSED = {"context_id", "id"}
IDS = ("context_id", "question_id", "id", "idx")  # the tool writes what columns its inputs have, and none of these of its own
BY_ID = "A column context_id, question_id, id or idx says which context it is; without one, contexts are known by their text."


def _is_annotation(fields: Fields) -> bool:
    return fields.keys() >= ANNOTATION


def _is_output(fields: Fields) -> bool:
    return {"instruction", "output"} <= fields.keys() and bool({"generator", "input"} & fields.keys())


def _context(fields: Fields) -> Fields:
    """Its id, under a name that is guessed to be one, so that it can be changed as any guess. Alpaca's instructions may have an
    input, which belongs to what was asked."""
    ids = {name: fields[name] for name in IDS if fields.get(name) not in (None, "")}
    ids |= {name: key for name, (key, other) in _ids_of_sides(fields).items() if key == other}
    if ids and not ids.keys() & GUESSED:
        ids["id"] = next(iter(ids.values()))
    asked = [part for part in (fields["instruction"], fields.get("input")) if isinstance(part, str) and part]
    return ids | {"context": "\n\n".join(asked) if asked else fields["instruction"]}


def _ids_of_sides(fields: Fields) -> dict[str, tuple[Any, Any]]:
    """Where a prompt stands under several ids, and the tool was not told which outputs belong together, it compares each with
    each, and writes the ids of both sides: idx_1 and idx_2."""
    sides = {name: tuple(fields.get(f"{name}_{side}") for side in "12") for name in IDS}
    return {name: (a, b) for name, (a, b) in sides.items() if a not in (None, "") and b not in (None, "")}


def _outputs(fields: Fields, around: Surroundings) -> Iterator[Entry]:
    own = _context(fields) | {"output": fields["output"]}
    own |= {"system": fields["generator"]} if "generator" in fields else {}
    others = {name: value for name, value in fields.items() if name not in ("instruction", "generator", "input")}
    yield Entry(OUTPUTS, own | others)


def _entries(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """`preference` is 1 where output_1 is better, 2 where output_2 is, 1.5 (0 in older files) for a tie; between these, how
    probable it is that output_2 is better, plus one."""
    sides = _context(fields)
    for side, count in zip("ab", "12"):
        sides |= {f"system_{side}": fields[f"generator_{count}"], f"output_{side}": fields[f"output_{count}"]}
    person = fields.get("annotator_index") is not None
    if any(key != other for key, other in _ids_of_sides(fields).values()):
        for kind in (OUTPUTS, OUTPUTS, JUDGMENTS if person else JUDGE_PAIRS):
            yield LeftOut(kind, "compares answers to two inputs with one text")
        return
    for output in outputs_of(sides):
        yield Entry(OUTPUTS, output)
    preference = number(fields.get("preference"))
    if fields.get("preference") in (None, ""):
        yield LeftOut(JUDGMENTS if person else JUDGE_PAIRS, "has no preference")
        return
    if preference is None or not (preference == 0 or 1 <= preference <= 2):
        raise BadField("preference", f"expected 0 or a number from 1 to 2, found {shown(fields['preference'])}")
    tie = preference in (0, 1.5)
    if person:
        if not tie and preference not in (1, 2):
            raise BadField("preference", f"expected 0, 1, 1.5 or 2 of a person, found {shown(preference)}")
        choice = "tie" if tie else "A" if preference == 1 else "B"
        yield Entry(JUDGMENTS, sides | {"annotator": str(fields["annotator_index"]), "choice": choice})
        return
    chances = {"a": 0.0, "tie": 1.0, "b": 0.0} if tie else {"a": 2 - preference, "tie": 0.0, "b": preference - 1}
    yield Entry(JUDGE_PAIRS, sides | {"judge": fields.get("annotator")} | chances)


ALPACA_OUTPUTS = Shape(
    name="AlpacaEval outputs",
    address="https://github.com/tatsu-lab/alpaca_eval",
    kinds=(OUTPUTS,),
    recognises=_is_output,
    entries=_outputs,
    guess=BY_ID,
)
ALPACA_ANNOTATIONS = Shape(
    name="AlpacaEval annotations",
    address="https://github.com/tatsu-lab/alpaca_eval",
    kinds=(OUTPUTS, JUDGMENTS, JUDGE_PAIRS),
    recognises=_is_annotation,
    entries=_entries,
    guess="An annotator is a program, unless an annotator_index says which person it was. " + BY_ID,
)
ALPACA_LEADERBOARD = Shape(
    name="AlpacaEval leaderboard",
    address="https://github.com/tatsu-lab/alpaca_eval",
    kinds=(),
    recognises=lambda fields: {"win_rate", "standard_error", "n_total"} <= fields.keys(),
    entries=nothing,
    guess="It holds win rates alone; outputs and preferences are in annotations.json.",
)

"""AlpacaEval's outputs and annotations."""

from collections.abc import Iterator

from annotation.data.shapes.pairs import outputs_of
from annotation.data.shapes.shape import JUDGE_PAIRS, JUDGMENTS, OUTPUTS, Entry, Fields, LeftOut, Shape, Surroundings, nothing
from annotation.data.shapes.values import number
from core.rows import BadField, shown

ANNOTATION = {"instruction", "output_1", "generator_1", "output_2", "generator_2"}


def _is_annotation(fields: Fields) -> bool:
    return fields.keys() >= ANNOTATION


def _is_output(fields: Fields) -> bool:
    return {"instruction", "output"} <= fields.keys() and bool({"generator", "input"} & fields.keys())


def _outputs(fields: Fields, around: Surroundings) -> Iterator[Entry]:
    """Alpaca's instructions may have an input, which belongs to what was asked."""
    asked = [part for part in (fields["instruction"], fields.get("input")) if isinstance(part, str) and part]
    own = {"context": "\n\n".join(asked) if asked else fields["instruction"], "output": fields["output"]}
    own |= {"system": fields["generator"]} if "generator" in fields else {}
    others = {name: value for name, value in fields.items() if name not in ("instruction", "generator", "input")}
    yield Entry(OUTPUTS, own | others)


def _entries(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """`preference` is 1 where output_1 is better, 2 where output_2 is, 1.5 (0 in older files) for a tie; between these, how
    probable it is that output_2 is better, plus one."""
    sides = {"context": fields["instruction"]}
    for side, count in zip("ab", "12"):
        sides |= {f"system_{side}": fields[f"generator_{count}"], f"output_{side}": fields[f"output_{count}"]}
    for output in outputs_of(sides):
        yield Entry(OUTPUTS, output)
    person = fields.get("annotator_index") is not None
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
)
ALPACA_ANNOTATIONS = Shape(
    name="AlpacaEval annotations",
    address="https://github.com/tatsu-lab/alpaca_eval",
    kinds=(OUTPUTS, JUDGMENTS, JUDGE_PAIRS),
    recognises=_is_annotation,
    entries=_entries,
    guess="An annotator is a program, unless an annotator_index says which person it was.",
)
ALPACA_LEADERBOARD = Shape(
    name="AlpacaEval leaderboard",
    address="https://github.com/tatsu-lab/alpaca_eval",
    kinds=(),
    recognises=lambda fields: {"win_rate", "standard_error", "n_total"} <= fields.keys(),
    entries=nothing,
    guess="It holds win rates alone; outputs and preferences are in annotations.json.",
)

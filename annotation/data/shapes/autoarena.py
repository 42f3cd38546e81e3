"""AutoArena's head-to-heads: votes of people and of language models in one table."""

from collections.abc import Iterator

from annotation.data.shapes.pairs import outputs_of
from annotation.data.shapes.shape import JUDGE_PAIRS, JUDGMENTS, OUTPUTS, Entry, Fields, LeftOut, Shape, Surroundings

COLUMNS = {"prompt", "model_a", "model_b", "response_a", "response_b", "judge", "winner"}
WINNERS = ("A", "B", "-")


def _recognises(fields: Fields) -> bool:
    """Its own words for a winner tell it from votes of other arenas, which may have the same columns."""
    return fields.keys() - {"id"} == COLUMNS and fields["winner"] in WINNERS


def _entries(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    own = {name: value for name, value in fields.items() if name not in ("judge", "winner", "id")}
    for output in outputs_of(own):
        yield Entry(OUTPUTS, output)
    judge, choice = fields.get("judge"), {"-": "tie"}.get(str(fields.get("winner")), fields.get("winner"))
    if isinstance(judge, str) and judge.lower() == "human":
        yield Entry(JUDGMENTS, own | {"annotator": judge, "choice": choice})
    else:
        yield Entry(JUDGE_PAIRS, own | {"judge": judge, "choice": choice})


AUTOARENA = Shape(
    name="AutoArena",
    address="https://github.com/kolenaIO/autoarena/blob/trunk/autoarena/api/router.py",
    kinds=(OUTPUTS, JUDGMENTS, JUDGE_PAIRS),
    recognises=_recognises,
    entries=_entries,
    guess="The judge called Human is people; each other judge is a program.",
)

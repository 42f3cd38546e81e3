"""Arena-Hard's judgments (two games of a model against the baseline) and model answers, of version 2."""

from collections.abc import Iterator

from annotation.data.shapes.shape import JUDGE_PAIRS, OUTPUTS, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import answered, messages
from core.rows import BadField, shown

FIRST_WINS = {"A>>B": 1.0, "A>B": 1.0, "A=B": 0.5, "B=A": 0.5, "B>A": 0.0, "B>>A": 0.0}


def _is_judgment(fields: Fields) -> bool:
    return {"uid", "judge", "model", "baseline", "games"} <= fields.keys()


def _judgments(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """In the first game the model is B, in the second A. The chances are the shares of the games that were judged."""
    games = fields["games"]
    if not isinstance(games, list) or len(games) > 2:
        raise BadField("games", "expected a list of two games")
    of_model = []
    for number, game in enumerate(games):
        score = game.get("score") if isinstance(game, dict) else None
        if score in (None, ""):
            continue
        if score not in FIRST_WINS:
            raise BadField("games", f"expected one of {', '.join(FIRST_WINS)}, found {shown(score)}")
        of_model.append(FIRST_WINS[score] if number == 1 else 1 - FIRST_WINS[score])
    if not of_model:
        yield LeftOut(JUDGE_PAIRS, "has no game with a verdict")
        return
    chances = {name: of_model.count(value) / len(of_model) for name, value in (("a", 1.0), ("tie", 0.5), ("b", 0.0))}
    names = {"context_id": fields["uid"], "system_a": fields["model"], "system_b": fields["baseline"], "judge": fields["judge"]}
    yield Entry(JUDGE_PAIRS, names | chances)


def _is_answer(fields: Fields) -> bool:
    return {"uid", "model", "messages"} <= fields.keys()


def _answers(fields: Fields, around: Surroundings) -> Iterator[Entry]:
    chat = messages(fields["messages"], "messages")
    for turn in chat:
        if isinstance(turn.get("content"), dict):
            turn["content"] = turn["content"].get("answer")
    context, output = answered(chat, "messages")
    yield Entry(OUTPUTS, {"context_id": fields["uid"], "context": context, "system": fields["model"], "output": output})


ARENA_HARD = Shape(
    name="Arena-Hard judgments",
    address="https://github.com/lmarena/arena-hard-auto",
    kinds=(JUDGE_PAIRS,),
    recognises=_is_judgment,
    entries=_judgments,
    guess="Much better counts as better. Where the two games differ, each has half the weight.",
)
ARENA_HARD_ANSWERS = Shape(
    name="Arena-Hard answers",
    address="https://github.com/lmarena/arena-hard-auto",
    kinds=(OUTPUTS,),
    recognises=_is_answer,
    entries=_answers,
)

"""Votes of arenas: LMArena (140k), its 55k and MT-bench's human judgments, compar:IA's."""

from collections.abc import Iterator
from typing import Any

from annotation.data.shapes.pairs import outputs_of
from annotation.data.shapes.shape import JUDGE_PAIRS, JUDGMENTS, OUTPUTS, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import LANGUAGE_MODEL, answered, messages, number, texts
from core.rows import BadField, shown

VOTERS = "Voters are people. If a program voted, import the file as a judge's answers."
SESSION = "evaluation_session_id"
ONE_HOT = {"winner_model_a": "A", "winner_model_b": "B", "winner_tie": "tie"}


def _has_conversations(fields: Fields) -> bool:
    return {"model_a", "model_b", "conversation_a", "conversation_b"} <= fields.keys()


def _entries(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """Of a vote on two conversations. Both sides answer the same turns of the user; what a side answered before its last turn
    stands with its output as `history`, where the sides differ in it."""
    if fields["model_a"] == fields["model_b"]:
        yield from _with_itself()
        return
    (before_a, output_a), (before_b, output_b) = (
        answered(_until(messages(fields[name], name), fields.get("turn")), name)
        for name in ("conversation_a", "conversation_b")
    )
    context: list[dict[str, str]] = before_a
    if before_a != before_b:
        context = _asked(before_a)
        if _asked(before_b) != context:
            raise BadField("conversation_b", "has other turns of the user than conversation_a")
    sides: Fields = {"context": context, "output_a": output_a, "output_b": output_b}
    sides |= {f"system_{side}": fields[f"model_{side}"] for side in "ab"}
    if (key := _context_id(fields, len(_asked(context)))) is not None:
        sides["context_id"] = key
    if isinstance(fields.get("question_id"), int) and "turn" in fields:  # MT-bench: both turns of a question belong together
        sides["group"] = str(fields["question_id"])
    elif fields.get(SESSION) is not None:
        sides["group"] = str(fields[SESSION])
    for side, output in zip("ab", outputs_of(sides)):
        before = before_a if side == "a" else before_b
        yield Entry(OUTPUTS, output | ({"published": {"history": before}} if before_a != before_b else {}))
    yield from _vote(fields, sides)


def _with_itself() -> Iterator[LeftOut]:
    for kind in (OUTPUTS, JUDGMENTS):
        yield LeftOut(kind, "compares a system with itself")


def _until(chat: list[Fields], turn: Any) -> list[Fields]:
    """MT-bench's conversations hold both turns, whichever a vote is about."""
    asked = [at for at, said in enumerate(chat) if said["role"] in ("user", "human")]
    return chat[: asked[turn]] if turn in range(1, len(asked)) and isinstance(turn, int) else chat


def _asked(turns: list[dict[str, str]]) -> list[dict[str, str]]:
    return [turn for turn in turns if turn["role"] in ("user", "human")]


def _context_id(fields: Fields, turns: int) -> str | None:
    """The question's id, or the vote's: one text that was asked twice has other answers. MT-bench asks about a question's first
    turn and about its second."""
    key = next((fields[name] for name in ("question_id", "id") if fields.get(name) is not None), None)
    if isinstance(key, bool) or not isinstance(key, str | int):
        return None
    return str(key) if turns == 1 else f"{key}, turn {turns}"


def _vote(fields: Fields, sides: Fields) -> Iterator[Entry | LeftOut]:
    voter = next((fields[name] for name in ("judge", "judge_hash", "user", SESSION) if fields.get(name) is not None), None)
    model = isinstance(voter, str) and voter == fields.get("judge") and LANGUAGE_MODEL.search(voter)
    kind = JUDGE_PAIRS if model or isinstance(voter, list) else JUDGMENTS  # a list: MT-bench's [model, prompt]
    if fields.get("winner") in (None, "", "error"):  # FastChat's word for a reply that it could not read
        yield LeftOut(kind, "has no winner")
        return
    said = sides | {"choice": fields["winner"]}
    if kind == JUDGE_PAIRS:
        yield Entry(kind, said | {"judge": voter if model else " ".join(str(part) for part in voter)})
    else:
        yield Entry(kind, said | ({"annotator": voter} if voter is not None else {}))


def _entries_55k(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """Of a vote whose turns are lists of texts, written as JSON."""
    if fields["model_a"] == fields["model_b"]:
        yield from _with_itself()
        return
    prompts = texts(fields["prompt"], "prompt", may_lack=True)
    answers = {side: texts(fields[f"response_{side}"], f"response_{side}", may_lack=True) for side in "ab"}
    for side, said in answers.items():
        if len(said) != len(prompts):
            raise BadField(f"response_{side}", f"has {len(said)} answers to {len(prompts)} prompts")
    same_before = answers["a"][:-1] == answers["b"][:-1]
    context = [turn for both in zip(prompts, answers["a"]) for turn in both][:-1] if same_before else prompts
    sides: Fields = {"context": context, "output_a": answers["a"][-1], "output_b": answers["b"][-1]}
    sides |= {f"system_{side}": fields[f"model_{side}"] for side in "ab"}
    if (key := _context_id(fields, len(prompts))) is not None:
        sides["context_id"] = key
    for side, output in zip("ab", outputs_of(sides)):
        yield Entry(OUTPUTS, output | ({} if same_before else {"published": {"history": answers[side][:-1]}}))
    winners = [
        choice for column, choice in ONE_HOT.items() if number(fields[column]) == 1 or fields[column] in (True, "True", "true")
    ]
    if len(winners) > 1:
        raise BadField("winner_model_b", f"names a second winner: {shown(winners)}")
    if not winners:
        yield LeftOut(JUDGMENTS, "has no winner")
        return
    voter = {"annotator": f"voter {sides['context_id']}"} if "context_id" in sides else {}
    yield Entry(
        JUDGMENTS, voter | {name: fields[name] for name in ("annotator",) if name in fields} | sides | {"choice": winners[0]}
    )


def _is_55k(fields: Fields) -> bool:
    return {"model_a", "model_b", "prompt", "response_a", "response_b", *ONE_HOT} <= fields.keys()


ARENA = Shape(
    name="Arena",
    address="https://huggingface.co/datasets/lmarena-ai/arena-human-preference-140k",
    kinds=(OUTPUTS, JUDGMENTS, JUDGE_PAIRS),
    recognises=_has_conversations,
    entries=_entries,
    guess="Voters are people. A judge that is called as a language model is, as gpt-4, is none.",
)
ARENA_55K = Shape(
    name="Arena 55k",
    address="https://huggingface.co/datasets/lmarena-ai/arena-human-preference-55k",
    kinds=(OUTPUTS, JUDGMENTS),
    recognises=_is_55k,
    entries=_entries_55k,
    guess=VOTERS + " This file names nobody, so each vote counts as another person's.",
)


def _is_comparia(fields: Fields) -> bool:
    return {"model_a_name", "model_b_name", "conversation_a", "conversation_b", "chosen_model_name"} <= fields.keys()


def _entries_comparia(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    chosen, equal = fields.get("chosen_model_name"), fields.get("both_equal")
    winner = "tie" if equal in (True, "True", "true", "1", 1) else chosen
    own = {"model_a": fields["model_a_name"], "model_b": fields["model_b_name"], "winner": winner}
    ids = {
        name: fields[name] for name in ("conversation_pair_id", "session_hash", "visitor_id") if fields.get(name) is not None
    }
    own["id"] = ids.get("conversation_pair_id", fields.get("id"))
    if voter := ids.get("visitor_id") or ids.get("session_hash"):
        own["user"] = str(voter)
    yield from _entries(own | {name: fields[name] for name in ("conversation_a", "conversation_b")}, around)


COMPARIA = Shape(
    name="compar:IA",
    address="https://huggingface.co/datasets/ministere-culture/comparia-votes",
    kinds=(OUTPUTS, JUDGMENTS),
    recognises=_is_comparia,
    entries=_entries_comparia,
    guess=VOTERS,
)

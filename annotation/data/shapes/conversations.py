"""Whole conversations with systems: each turn of a system is an output, and the turns before it are its context."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from annotation.data.shapes.shape import OUTPUTS, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import content
from core.errors import quoted
from core.rows import BadField, NotAnswered, Row, json_in, kind_of

IDS = ("conversation_id", "dialogue_id", "dialog_id")
LISTS = ("turns", "conversation", "conversations", "dialogue", "dialog")
ROLES, TEXTS, NUMBER = ("role", "speaker", "from"), ("text", "content", "utterance", "value", "message"), "turn"
NAMES = ("system", "model", "system_name", "model_name", "system_id")
ANSWERS = ("score", "rating", "label", "annotator")  # whose files hold more than texts
USERS, SYSTEMS = ("user", "human"), ("assistant", "bot", "gpt", "model", "chatbot", "ai")
MOST = 200  # turns of a conversation, which are stored again with each that follows
SYSTEM = "system"  # the one who answers, or a prompt: it answers where no assistant does, and a user spoke before
KNOWN = (*USERS, *SYSTEMS, SYSTEM, "developer", "tool", "function")


@dataclass(frozen=True)
class Turn:
    """One turn as it was read. role: as its file has it; field: where its text stands; row: with its line, and with what else
    the file says of it."""

    role: str
    text: str
    field: str
    row: Row

    @property
    def plain_role(self) -> str:
        return self.role.strip().lower()


def _named(fields: Fields, names: Sequence[str]) -> str:
    """The first of these columns that there is; empty where there is none."""
    return next((name for name in names if name in fields), "")


def _list_of(fields: Fields) -> str:
    """The column that holds a list of turns by role, or of none; empty where none does."""
    names = (*LISTS, "messages") if "conversation_id" in fields else LISTS
    for name in names:
        turns = json_in(fields.get(name))
        if isinstance(turns, list) and turns and isinstance(turns[0], dict) and _named(turns[0], ROLES):
            return name
    is_row = "conversation_id" not in fields or bool(_named(fields, ROLES))
    return "" if is_row else next((name for name in LISTS if name in fields and json_in(fields[name]) in (None, "", [])), "")


def _recognises(fields: Fields) -> bool:
    if "output" in fields or any(name in fields for name in ANSWERS):
        return False
    is_table = bool(_named(fields, IDS) and _named(fields, ROLES) and _named(fields, TEXTS))
    return is_table or bool(_list_of(fields))


def _gathered(rows: Iterable[Row]) -> Iterator[Row]:
    """One row for each turn, which says what becomes of it. The rows of a table stand together first: a conversation's turns
    in the order of their numbers, else of the file."""
    tables: dict[str, list[Turn]] = {}
    for row in rows:
        try:
            column = _list_of(row.fields)
            name = row.name(_named(row.fields, IDS) or (column and _named(row.fields, ["id"])) or IDS[0])
            if column:
                others = {field: value for field, value in row.fields.items() if field != column}
                if not (turns := _turns_of(row, column)):
                    yield replace(row, fields={"found": LeftOut(OUTPUTS, "is a conversation without turns")})
                yield from _judged(name, _system_of(row), turns, others)
            else:
                tables.setdefault(name, []).append(_turn_of(row))
        except (BadField, NotAnswered) as error:
            yield replace(row, fields={"found": error})
    for name, turns in tables.items():
        try:
            for system, of_system in _by_system(name, turns).items():
                yield from _judged(name, system, _in_order(of_system))
        except _Misplaced as error:
            yield replace(error.row, fields={"found": error})


class _Misplaced(BadField):
    """Of a row that does not fit those around it."""

    def __init__(self, row: Row, field: str, message: str):
        super().__init__(field, message)
        self.row = row


def _turns_of(row: Row, column: str) -> list[Turn]:
    """Of a list in one row. Raises BadField."""
    turns = []
    for number, said in enumerate(json_in(row.fields[column]) or []):
        if not isinstance(said, dict):
            raise BadField(f"{column}.{number}", f"expected a turn with role and text, found {kind_of(said)}")
        try:
            turns.append(_turn_of(replace(row, fields=said)))
        except BadField as error:
            raise BadField(f"{column}.{number}.{error.field}", str(error)) from None
    return turns


def _turn_of(row: Row) -> Turn:
    """Raises BadField, and NotAnswered where a message has no text."""
    role, field = _named(row.fields, ROLES) or ROLES[0], _named(row.fields, TEXTS) or TEXTS[0]
    said = row.fields.get(field)
    text = content({"content": said}, field) if isinstance(said, list) else row.text(field, empty=True, default="")
    return Turn(row.name(role), text, field, row)


def _system_of(row: Row) -> str:
    """Which system talked; empty where the row does not say so. Raises BadField."""
    column = _named(row.fields, NAMES)
    return row.name(column, default="") if column else ""


def _by_system(conversation: str, turns: Sequence[Turn]) -> dict[str, list[Turn]]:
    """Rows that name no system, as those of users may, are of the only one that is named. Raises BadField."""
    by_system: dict[str, list[Turn]] = {}
    for turn in turns:
        by_system.setdefault(_system_of(turn.row), []).append(turn)
    if len(by_system) == 2 and "" in by_system:
        return {max(by_system): list(turns)}
    if len(by_system) > 1 and "" in by_system:
        row = by_system[""][0].row
        wrong = f"is missing, and conversation {quoted(conversation)} is of several systems: each of its rows has to name one"
        raise _Misplaced(row, _named(row.fields, NAMES), wrong)
    return by_system


def _in_order(turns: Sequence[Turn]) -> list[Turn]:
    """By their numbers, where the file has them: a user's turn and its answer may share one. Raises BadField."""
    if all(turn.row.get(NUMBER) in (None, "") for turn in turns):
        return list(turns)
    numbers: dict[tuple[int, str], Turn] = {}
    for turn in turns:
        try:
            number = turn.row.whole(NUMBER)
        except BadField as error:
            raise _Misplaced(turn.row, NUMBER, str(error)) from None
        if number is None:
            raise _Misplaced(turn.row, NUMBER, "is missing, and other turns of its conversation have one")
        if numbers.setdefault((number, turn.plain_role), turn) is not turn:
            raise _Misplaced(turn.row, NUMBER, f"is {number} twice by {quoted(turn.role)} in one conversation")
    return [numbers[place] for place in sorted(numbers, key=lambda place: place[0])]


def _answering(turns: Sequence[Turn], system: str) -> list[int]:
    """Which of the turns a system said in answer to something. The one that opens a conversation answers nothing."""
    own = [n for n, turn in enumerate(turns) if turn.plain_role in (*SYSTEMS, system.lower())]
    if not own:
        began = next((n for n, turn in enumerate(turns) if turn.plain_role in USERS), len(turns))
        own = [n for n, turn in enumerate(turns) if turn.plain_role == SYSTEM and n > began]
    spoken = next((n for n, turn in enumerate(turns) if turn.text.strip()), len(turns))
    return [n for n in own if n > spoken]


def _judged(conversation: str, system: str, turns: Sequence[Turn], others: Fields | None = None) -> Iterator[Row]:
    """A row for each turn: an Entry, or why it is left out. others: what is said of the whole conversation; None: of each turn
    its row's."""
    answering = _answering(turns, system) if len(turns) <= MOST else []
    before: list[Fields] = []
    for n, turn in enumerate(turns):
        found: Entry | LeftOut
        if n in answering:
            place = {"conversation": conversation, "turn": answering.index(n) + 1, "turns": len(answering)}
            found = Entry(OUTPUTS, _output(turn, turn.row.fields if others is None else others, before, system, place))
        else:
            found = LeftOut(OUTPUTS, _why(turn, turns, bool(answering), n > max(answering, default=n)))
        if turn.text.strip() or n in answering:
            before.append({"role": turn.role, "content": turn.text})
        yield replace(turn.row, fields={"found": found})


def _output(turn: Turn, beside: Fields, before: Sequence[Fields], system: str, place: Fields) -> Fields:
    known = (*IDS, "id", *ROLES, *TEXTS, NUMBER, "metadata", *(NAMES if system else ()))
    others = {column: value for column, value in beside.items() if column not in known}
    metadata = json_in(beside.get("metadata"))
    of_system = {"system": system} if system else {}
    said = {"context": list(before), "output": turn.text, "metadata": (metadata if isinstance(metadata, dict) else {}) | place}
    group = {} if str(others.get("group") or "").strip() else {"group": place["conversation"]}
    return others | group | of_system | said


def _why(turn: Turn, turns: Sequence[Turn], is_answered: bool, is_after: bool) -> str:
    """Why nobody judges a turn, and where it stands."""
    if len(turns) > MOST:
        return f"is in a conversation of more than {MOST} turns"
    if not is_answered and any(one.plain_role in SYSTEMS for one in turns):
        return "is in a conversation where nobody says anything before the system, so that it answers nothing"
    if not is_answered:
        roles = ", ".join(dict.fromkeys(quoted(one.role) for one in turns))
        return f"is in a conversation where no system answers (roles: {roles}; a system's is {', '.join(SYSTEMS)})"
    if not turn.text.strip():
        return f"is empty, by {quoted(turn.role)}, and stands in no context"
    where = "stands in no context, since no system answers it" if is_after else "stands in the context of the turns after it"
    if turn.plain_role in USERS:
        return f"is a user's turn; it {where}"
    if turn.plain_role in KNOWN:
        return f"is a turn of {quoted(turn.role)} that answers nothing; it {where}"
    return f"has the role {quoted(turn.role)}, which is neither a user's nor a system's; it {where}"


def _entries(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    found = fields["found"]
    if isinstance(found, Exception):
        raise found
    if isinstance(found, Entry):
        place, system = found.fields["metadata"], str(found.fields.get("system") or around.system)
        checkpoint = str(found.fields.get("checkpoint") or "")
        of = ", ".join(filter(None, [place["conversation"], system, checkpoint, f"turn {place['turn']}"]))
        found = Entry(found.kind, {"context_id": of} | found.fields)
    yield found


CONVERSATIONS = Shape(
    name="conversations",
    address="https://huggingface.co/datasets/lmsys/lmsys-chat-1m",
    kinds=(OUTPUTS,),
    recognises=_recognises,
    entries=_entries,
    gathers=_gathered,
    guess=(
        "Each turn by which a system answers is an output; the turns before it are its context, and its conversation is its "
        "group. A system's role is assistant, bot, gpt, model, chatbot, ai, its own name, or else system. Two turns of one "
        "role in a row stay two."
    ),
)

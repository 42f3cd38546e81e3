"""Conversations between people from files, for self-supervision: all or nothing, each error with file, line and field."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.data.corpus import Imported
from annotation.data.insertion import BATCH
from annotation.models import AuditEvent, Campaign
from core.errors import ImportRefused, quoted
from core.rowfiles import BadField, Row, read_document, read_rows, refusal, rows_from
from evaluator.models import Dialogue

SHOWN_ERRORS = 100
FEWEST_TURNS = 2  # a first turn, and what somebody answered to it
SHAPES = "expected JSON lines of {dialogue_id, turns}, or one object of {id: {messages}}, as chitchat-dataset has it"

Conversation = tuple[str, list[str], list[list[str]]]  # id, turns, references: other replies to each turn


@transaction.atomic
def import_dialogues(campaign: Campaign, source, name: str | None = None, dry_run: bool = False, user=None) -> Imported:
    """Rows as `rows_of` gives them. The same file twice changes nothing. Raises ImportRefused with every error, and then
    stores nothing."""
    Campaign.objects.select_for_update().get(pk=campaign.pk)  # two imports at once wait for each other
    file = _name(source, name)
    known = {d.key: (d.turns, d.references) for d in campaign.dialogues.all()}
    new: list[Dialogue] = []

    def keep(key: str, turns: list[str], references: list[list[str]]) -> None:
        content = turns, references
        if known.setdefault(key, content) is content:
            new.append(Dialogue(campaign=campaign, key=key, turns=turns, references=references))
        elif known[key] != content:
            raise BadField("dialogue_id", f"{quoted(key)} stands for another conversation already")

    rows = _read(source, file, keep)
    result = Imported(rows=rows, new={"dialogues": len(new)} if new else {}, dry_run=dry_run)
    if new and not dry_run:
        Dialogue.objects.bulk_create(new, batch_size=BATCH)
        detail = {"file": file, "kind": "dialogues", **result.as_dict()}
        AuditEvent.objects.create(campaign=campaign, user=user, action="import", detail=detail)
    return result


def read_conversations(files: Sequence[str | Path]) -> list[Conversation]:
    """Of all files together, stored nowhere; an id is the file's number and the conversation's own. Raises ImportRefused."""
    found: list[Conversation] = []
    for number, file in enumerate(files):
        _read(file, _name(file), lambda key, *content, number=number: found.append((f"{number}/{key}", *content)))
    return found


def rows_of(source, name: str) -> Iterator[Row]:
    """Rows {dialogue_id, turns, [references]}, references[i] other replies that people wrote to turns[i]: those of a JSONL or
    CSV file, or made of a JSON file as PyPI's chitchat-dataset has it. Raises ImportRefused where it has another shape."""
    document = read_document(source, name) if name.lower().endswith(".json") else None
    if document is None or (isinstance(document, dict) and "turns" in document):  # JSON lines, or the only one of them
        return read_rows(source, name)
    if not isinstance(document, dict) or not document:
        raise refusal(name, None, SHAPES)
    return rows_from(_chitchat(document, name), name)


def _chitchat(document: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """{id: {messages: [[{sender, text}, ...], ...]}}: what one speaker says before another one does is a turn. When it was
    said and how people rated it is left out; so are conversations in which nobody answered."""
    for key, conversation in document.items():
        groups = conversation.get("messages") if isinstance(conversation, dict) else None
        if not isinstance(groups, list):
            raise refusal(name, None, SHAPES, key)
        said = []
        for i, group in enumerate(groups):
            for message in group if isinstance(group, list) else [group]:
                said.append(_message(message, name, f"{key}.messages[{i}]"))
        spoken = [(sender, text.strip()) for sender, text in said if text.strip()]
        turns = [" ".join(text for _, text in group) for _, group in groupby(spoken, key=lambda both: both[0])]
        if len(turns) >= FEWEST_TURNS:
            yield {"dialogue_id": key, "turns": turns}


def _message(message: Any, name: str, field: str) -> tuple[str, str]:
    """(sender, text)"""
    for part in ("sender", "text"):
        if not isinstance(message, dict) or not isinstance(message.get(part), str):
            raise refusal(name, None, f"expected a message with the texts sender and text; {part} is missing", field)
    return message["sender"], message["text"]


def _name(source, name: str | None = None) -> str:
    return str(name or getattr(source, "name", None) or str(source).rsplit("/", 1)[-1])


def _read(source, file: str, keep) -> int:
    """How many rows were read; keep(id, turns, references) takes each. Raises ImportRefused with every error."""
    errors, kinds, rows = [], Counter(), 0
    for row in rows_of(source, file):
        rows += 1
        try:
            keep(*_conversation(row))
        except BadField as error:
            wrong = row.wrong(file, error)
            kinds[wrong.kind] += 1
            if len(errors) < SHOWN_ERRORS:
                errors.append(wrong)
    if errors:
        raise ImportRefused(errors, kinds)
    return rows


def _conversation(row: Row) -> Conversation:
    turns = row.texts("turns", required=True)
    if len(turns) < FEWEST_TURNS:
        raise BadField("turns", f"has {len(turns)} turn; a conversation has at least {FEWEST_TURNS}")
    return row.name("dialogue_id"), turns, _references(row, len(turns))


def _references(row: Row, turns: int) -> list[list[str]]:
    lists = row.get("references", [])
    if not isinstance(lists, list) or not all(
        isinstance(replies, list) and all(isinstance(reply, str) for reply in replies) for replies in lists
    ):
        raise BadField("references", "expected, for each turn, a list of texts")
    if len(lists) > turns:
        raise BadField("references", f"answers {len(lists)} turns; the conversation has {turns}")
    return lists

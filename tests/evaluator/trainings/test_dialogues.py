"""Conversations for self-supervision come in by import_dialogues, all or nothing."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluator.models import Dialogue
from tests.evaluator.world import write

GOOD = {"dialogue_id": "d1", "turns": ["hello", "hi there", "bye"], "references": [["hi", "hey"], ["see you"]]}


def imported(world, rows, *options):
    path = write(world.folder, "dialogues.jsonl", rows)
    out = StringIO()
    call_command("import_dialogues", "talk", str(path), "--json", *options, stdout=out)
    return json.loads(out.getvalue())


def test_a_file_comes_in_once(world):
    rows = [GOOD, {"dialogue_id": 2, "turns": ["a", "b"]}]
    assert imported(world, rows, "--dry-run")["new"] == {"dialogues": 2} and not Dialogue.objects.exists()
    assert imported(world, rows) == {"rows": 2, "new": {"dialogues": 2}, "dry_run": False}
    assert imported(world, rows)["new"] == {}
    stored = Dialogue.objects.get(key="d1")
    assert (stored.turns, stored.references) == (GOOD["turns"], GOOD["references"])
    assert Dialogue.objects.get(key="2").references == []


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        ({"turns": ["alone"]}, "field 'turns': has 1 turn; a conversation has at least 2"),
        ({"turns": 7}, "field 'turns': expected a text or a list of texts, found a number"),
        ({"dialogue_id": None}, "field 'dialogue_id': is missing"),
        ({"references": ["hi"]}, "field 'references': expected, for each turn, a list of texts"),
        ({"references": [[], [], [], []]}, "field 'references': answers 4 turns; the conversation has 3"),
        ({"turns": ["x", "y", "z"]}, "field 'dialogue_id': 'd1' stands for another conversation already"),
    ],
)
def test_every_error_names_line_and_field_and_stores_nothing(world, wrong, sentence):
    with pytest.raises(CommandError) as refused:
        imported(world, [GOOD, {**GOOD, **wrong}])
    assert "dialogues.jsonl, line 2" in str(refused.value) and sentence in str(refused.value)
    assert not Dialogue.objects.exists()

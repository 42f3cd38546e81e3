"""Which tests are repeated on PostgreSQL."""

import json
import os

from tests import statements
from tests.statements import covering, shape


def row(test, seconds, *sent):
    return {"test": test, "seconds": seconds, "sent": list(sent)}


def test_statements_are_one_whatever_number_of_values_they_have():
    assert shape('SELECT "a" FROM "t" WHERE "a" IN (%s)') == shape('SELECT "a" FROM "t" WHERE "a" IN (%s, %s, %s)')
    assert shape('INSERT INTO "t" VALUES (%s, NULL)') == shape('INSERT INTO "t" VALUES (%s, NULL), (%s, NULL), (%s, NULL)')
    assert shape('SAVEPOINT "s1_x2"') == shape('SAVEPOINT "s3_x4"')
    assert shape('SELECT "a" FROM "t" LIMIT 21') == shape('SELECT "a" FROM "t" LIMIT 1')
    assert shape('SELECT "a" FROM "t"') != shape('SELECT "b" FROM "t"')


def test_each_statement_is_sent_once_by_the_cheapest():
    rows = [
        row("all", 9, "a", "b", "c"),
        row("two", 1, "a", "b"),
        row("third", 1, "c"),
        row("again", 1, "c", "a"),
        row("none", 0),
    ]
    tests = {"all", "two", "third", "again", "none"}
    assert covering(rows, tests, set()) == {"two", "third"}  # two in a second, then the first of those that send c
    assert covering(rows, tests, {"all"}) == {"all"}


def test_what_is_not_noted_or_not_marked_does_not_stand_for_others():
    rows = [row("marked", 1, "a"), row("other", 0.1, "a")]
    assert covering(rows, {"marked", "new"}, set()) == {"marked", "new"}


def test_a_file_with_nothing_to_repeat_is_not_read_until_it_changes(tmp_path, monkeypatch):
    for name, value in {"ROOT": tmp_path, "NOTED": tmp_path, "COLLECTED": tmp_path / "collected.json"}.items():
        monkeypatch.setattr(statements, name, value)
    names = ("cheap", "dear", "pure", "failed", "killed")
    for name in names:
        (tmp_path / name).touch()
    noted = [row("cheap::a", 1, "a"), row("dear::b", 9, "a"), row("pure::c", 1), row("killed::d", 1, "a")]
    (tmp_path / "gw0.jsonl").write_text("".join(json.dumps(one) + "\n" for one in noted))
    statements.note_collected([(f"{name}::{test}", name != "pure", name == "killed") for name, test in zip(names, "abced")])
    assert {path.name for path in statements.not_repeated()} == {"cheap", "dear", "pure"}  # what is killed sends a already
    os.utime(tmp_path / "dear", ns=(1, 1))
    assert {path.name for path in statements.not_repeated()} == {"cheap", "pure"}

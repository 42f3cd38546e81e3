"""Files as people have them: chat messages, a JSON array, other separators, Excel, a column or a file for each system; what no
field takes; every error told."""

import csv
import io
import json

import openpyxl
import pytest
from django.core.management import CommandError, call_command

from annotation.campaigns.lifecycle import create_campaign
from annotation.data.importer import import_outputs, import_scores
from annotation.models import Context, LikertScore, Output, System, Upload
from core.errors import ImportRefused
from tests.annotation.data.test_import_pages import row as good_row
from tests.annotation.data.test_import_pages import send, store
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db
HEADER = ["context_id", "context", "system", "output"]
ROWS = [["1", "Hi; there", "parrot", "Hello"], ["2", "Bye", "parrot", "So long"]]
STORED = {("1", ("Hi; there",), "parrot", "Hello"), ("2", ("Bye",), "parrot", "So long")}


@pytest.fixture(autouse=True)
def uploads_folder(settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path / "uploads"


@pytest.fixture
def campaign():
    return create_campaign(slug="talk", pairwise=True)


@pytest.fixture
def file(tmp_path):
    def write(name: str, raw: str | bytes):
        path = tmp_path / name
        path.write_bytes(raw.encode() if isinstance(raw, str) else raw)
        return path

    return write


def table(rows, delimiter=",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue()


def excel(rows) -> bytes:
    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(out)
    return out.getvalue()


def named(rows) -> list[dict]:
    return [dict(zip(HEADER, row, strict=True)) for row in rows]


def stored() -> set:
    rows = Output.objects.select_related("context", "system")
    return {(o.context.key, tuple(o.context.turns), o.system.name, o.text) for o in rows}


def errors(importer, campaign, path, **how) -> list[str]:
    with pytest.raises(ImportRefused) as refused:
        importer(campaign, path, **how)
    assert not Output.objects.exists() and not Context.objects.exists() and not System.objects.exists()
    return [str(error) for error in refused.value.errors]


class TestShapes:
    @pytest.mark.parametrize(
        ("name", "raw"),
        [
            ("a.json", json.dumps(named(ROWS))),
            ("a.json", json.dumps(named(ROWS), indent=2)),
            ("a.jsonl", "\n\n" + json.dumps(named(ROWS))),
            ("a.csv", table([HEADER, *ROWS])),
            ("a.csv", table([HEADER, *ROWS], ";")),
            ("a.csv", table([HEADER, *ROWS], "\t")),
            ("a.tsv", table([HEADER, *ROWS], "\t")),
            ("A.XLSX", excel([HEADER, *ROWS])),
            ("a.xlsx", excel([HEADER, [1, *ROWS[0][1:]], [2.0, *ROWS[1][1:]], [None] * 4])),
            ("a.csv", table([["id", "prompt", "model", "response"], *ROWS])),  # other names, as the pages know them
        ],
    )
    def test_each_gives_the_same_rows(self, campaign, file, name, raw):
        import_outputs(campaign, file(name, raw))
        assert stored() == STORED

    def test_chat_messages_are_turns_and_keep_their_roles(self, campaign, file):
        messages = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "you"}]},
        ]
        row = {"context_id": "1", "context": messages, "system": "parrot", "output": "Hello"}
        import_outputs(campaign, file("a.jsonl", json.dumps(row)))
        context = Context.objects.get()
        assert (context.turns, context.metadata) == (["Be brief.", "Hi\nyou"], {"roles": ["system", "user"]})
        import_outputs(campaign, file("b.csv", table([HEADER, ["1", json.dumps(messages), "ape", "Oh"]])))
        assert Context.objects.count() == 1 and Output.objects.count() == 2

    @pytest.mark.parametrize(
        "message", [{"role": "user"}, {"content": "x"}, {"role": "user", "content": [{"type": "image"}]}, {}]
    )
    def test_other_objects_are_no_messages(self, campaign, file, message):
        row = {"context_id": "1", "context": [message], "system": "parrot", "output": "Hello"}
        expected = 'a.jsonl, line 1, field \'context\': expected messages with the texts "role" and "content"'
        assert errors(import_outputs, campaign, file("a.jsonl", json.dumps(row))) == [expected]

    def test_a_column_for_each_system(self, campaign, file):
        rows = [["id", "prompt", "parrot", "ape"], ["1", "Hi", "Hello", "Oh"], ["2", "Bye", "So long", ""]]
        import_outputs(campaign, file("wide.csv", table(rows)), systems=["parrot", "ape"])
        assert {(key, system, said) for key, _, system, said in stored()} == {
            ("1", "parrot", "Hello"),
            ("1", "ape", "Oh"),
            ("2", "parrot", "So long"),  # an empty cell: ape did not answer
        }

    def test_a_system_column_that_is_not_there(self, campaign, file):
        path = file("wide.csv", table([["id", "prompt", "parrot"], ["1", "Hi", "Hello"]]))
        expected = "wide.csv, field 'gorilla': is no column of this file"
        assert errors(import_outputs, campaign, path, systems=["parrot", "gorilla"]) == [expected]

    def test_a_file_for_each_system_meets_by_the_prompts_text(self, campaign, file):
        """AutoArena's files: prompt and response, no id, in any order."""
        pairs = [["What is 1 + 1?", "2"], ["Hi", "Hello"]]
        call_command(
            "import_outputs", "talk", str(file("p.csv", table([["prompt", "response"], *pairs]))), "--system", "parrot"
        )
        call_command(
            "import_outputs", "talk", str(file("a.csv", table([["prompt", "response"], *pairs[::-1]]))), "--system", "ape"
        )
        assert Context.objects.count() == 2 and Output.objects.count() == 4
        by_system = {s: {(t, o) for _, (t,), name, o in stored() if name == s} for s in ("parrot", "ape")}
        assert by_system == {"parrot": {tuple(p) for p in pairs}, "ape": {tuple(p) for p in pairs}}

    def test_a_context_that_has_an_id_keeps_it(self, campaign, file):
        import_outputs(campaign, file("a.csv", table([HEADER, *ROWS])))
        import_outputs(campaign, file("b.csv", table([["prompt", "response"], ["Bye", "Go"]])), system="ape")
        assert Output.objects.get(system__name="ape").context.key == "2"


class TestOtherColumns:
    RAW = table([[*HEADER, "topic", "tokens"], [*ROWS[0], "sport", "3"], ["1", "Hi; there", "ape", "Oh", "sport", "9"]])

    def test_they_are_named(self, campaign, file):
        assert import_outputs(campaign, file("a.csv", self.RAW)).unused == ["tokens", "topic"]
        assert Context.objects.get().metadata == {} and {*Output.objects.values_list("metadata__tokens")} == {(None,)}

    def test_they_are_kept_where_asked(self, campaign, file):
        """topic is one for all outputs of a context, tokens is not."""
        result = import_outputs(campaign, file("a.csv", self.RAW), keep_columns=True)
        assert result.unused == [] and Context.objects.get().metadata == {"topic": "sport"}
        kept = {o.system.name: o.metadata for o in Output.objects.select_related("system")}
        assert kept == {"parrot": {"tokens": "3"}, "ape": {"tokens": "9"}}

    def test_our_own_exports_have_none(self, campaign, file):
        import_outputs(campaign, file("a.csv", table([HEADER, *ROWS])))
        row = {"context_id": "1", "system": "parrot", "aspect": "Overall", "scale": [1, 5], "annotator": "ann", "score": 4}
        row |= {
            "seconds": 3,
            "active_seconds": 2,
            "answered_at": "2026-01-31T12:00:00Z",
            "kept": True,
            "dropped_by": None,
            "sample": 0,
        }
        assert import_scores(campaign, file("s.jsonl", json.dumps(row))).unused == []


class TestErrors:
    def test_errors_of_all_kinds_are_listed_together(self, campaign, file):
        lines = [
            "{",
            json.dumps(named(ROWS)[0]),
            json.dumps({"context_id": "3", "context": "x", "system": "y"}),
            "[1]",
            '{"context_id": "4", "context": "x\\u0000", "system": "y", "output": "z"}',
        ]
        assert errors(import_outputs, campaign, file("a.jsonl", "\n".join(lines)), human_systems=["nobody"]) == [
            "a.jsonl, line 1: is not JSON (Expecting property name enclosed in double quotes at column 1)",
            "a.jsonl, line 3, field 'output': is missing; it must be given",
            "a.jsonl, line 4: expected a JSON object, found a list",
            "a.jsonl, line 5, field 'context': holds a NUL character",
            "--human-system: no row has the system 'nobody' that was called human-written",
        ]

    def test_of_many_the_first_200_and_how_many_of_each_kind(self, campaign, file, capsys):
        import_outputs(campaign, file("o.csv", table([HEADER, *ROWS])))
        row = {"context_id": "1", "system": "parrot", "aspect": "Overall", "scale": [1, 5], "annotator": "a"}
        rows = [row | {"annotator": f"a{n}", "score": n} for n in range(300)]  # 5 of them fit: 1 to 5
        nobody = {name: value for name, value in rows[0].items() if name != "annotator"}
        path = file("s.jsonl", "".join(json.dumps(r) + "\n" for r in [*rows, nobody, nobody]))
        with pytest.raises(ImportRefused) as refused:
            import_scores(campaign, path)
        assert len(refused.value.errors) == 200
        outside = "field 'score': is …, outside the scale … to … of …"
        assert refused.value.kinds == {outside: 295, "field 'annotator': is missing; it must be given": 2}
        with pytest.raises(CommandError, match="and 296 more errors; nothing was imported"):
            call_command("import_scores", "talk", str(path))
        told = capsys.readouterr().err.splitlines()
        assert told[1] == "s.jsonl, line 7, field 'score': is 6, outside the scale 1 to 5 of 'Overall'"
        assert len(told) == 202 and told[200] == f"295 in all: {outside}"
        assert not LikertScore.objects.exists()

    @pytest.mark.parametrize(
        ("name", "raw", "expected"),
        [
            ("a.json", '[{"context_id": "1"}\n{', "a.json, row 1: is not JSON (the array does not go on with a comma or end"),
            ("a.json", '[\n{"context_id":\n', "a.json, row 1: is not JSON (Expecting value at line 3, column 1)"),
            ("a.json", "[]", "a.json: is empty"),
            ("a.json", "[1, 2]", "a.json, row 2: expected a JSON object, found a number"),
            ("a.xlsx", b"no zip", "a.xlsx: can't be read as an Excel file (.xlsx)"),
            ("a.xlsx", excel([]), "a.xlsx: is empty"),
            ("a.xlsx", excel([HEADER, [*ROWS[0], "more"]]), "a.xlsx, line 2: has 5 cells; the header has 4 columns"),
            ("a.csv", table([HEADER, ROWS[0][:3]], ";"), "a.csv, line 2: has 3 cells; the header has 4 columns"),
            ("a.csv", "a;a\n1;2\n", "a.csv, line 1: two columns have the same name"),
        ],
    )
    def test_one_sentence_with_file_line_and_field(self, campaign, file, name, raw, expected):
        assert errors(import_outputs, campaign, file(name, raw))[-1].startswith(expected)


class TestPages:
    def test_what_was_typed_is_saved_by_import_it(self, world):
        page = text(send(world, "more.csv", raw=table([HEADER, *ROWS]).encode()))
        assert page.index("Human-written systems") < page.index("Import it")
        upload = Upload.objects.get()
        typed = {name: name for name in HEADER} | {"human_systems": "parrot", "columns_form": "1"}
        assert "Imported." in text(world.post(f"import/{upload.pk}/store/", typed, follow=True))
        assert System.objects.get(name="parrot").is_human

    def test_what_was_typed_wrongly_is_refused_and_nothing_is_imported(self, world):
        before = Output.objects.count()
        send(world, "more.csv", raw=table([HEADER, *ROWS]).encode())
        typed = {name: name for name in HEADER} | {"human_systems": "nobody", "columns_form": "1"}
        page = text(world.post(f"import/{Upload.objects.get().pk}/store/", typed, follow=True))
        assert "no row has the system &#x27;nobody&#x27;" in page and Output.objects.count() == before

    def test_one_systems_file_is_named_after_it(self, world):
        page = text(send(world, "parrot-2.csv", raw=table([["prompt", "response"], ["Hey", "Ho"]]).encode()))
        assert "not checked yet" in page and 'value="parrot-2"' in page
        chosen = {"context": "prompt", "output": "response", "one_system": "parrot-2"}
        page = text(world.post(f"import/{Upload.objects.get().pk}/", chosen, follow=True))
        assert "nothing is stored yet" in page
        store(world)
        assert Output.objects.get(system__name="parrot-2").text == "Ho"

    def test_a_column_for_each_system_is_chosen(self, world):
        raw = table([["prompt", "parrot", "ape", "topic"], ["Hey", "Ho", "Oh", "art"]]).encode()
        send(world, "wide.csv", raw=raw)
        chosen = {"context": "prompt", "system_columns": ["parrot", "ape"]}
        page = text(world.post(f"import/{Upload.objects.get().pk}/", chosen, follow=True))
        assert "will not be imported: topic" in page
        world.post(f"import/{Upload.objects.get().pk}/", chosen | {"keep_columns": "on"})
        store(world)
        assert {*Output.objects.filter(context__turns=["Hey"]).values_list("system__name", "text")} == {
            ("parrot", "Ho"),
            ("ape", "Oh"),
        }
        assert Context.objects.get(turns=["Hey"]).metadata == {"topic": "art"}

    def test_a_broken_first_line_does_not_hide_the_others(self, world):
        raw = b"{\n" + json.dumps(good_row()).encode() + b'\n{"context_id": "n1", "context": "c", "system": "x"}\n'
        page = text(send(world, "bad.jsonl", raw=raw))
        assert "This file has 2 errors" in page and "is not JSON" in page and "is missing; it must be given" in page

    def test_kinds_of_errors_are_counted(self, world):
        bad = [{"context_id": f"n{n}", "context": "c", "system": "x"} for n in range(3)] + [{"context_id": "d", "system": "x"}]
        page = text(send(world, "bad.jsonl", good_row(), *bad))
        assert "<li>3: field &#x27;output&#x27;: is missing; it must be given</li>" in page

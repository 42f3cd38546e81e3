"""Zipped folders, several files at once, and the files of datasets, pandas, Label Studio, Potato and AutoArena.

The shapes are those of the tools' own documentation and code: labelstud.io/guide/task_format and its pairwise and rating tags;
Potato's docs/data-export/export_formats.md, pairwise_annotation.md and export/tabular_exporter.py; AutoArena's api/router.py;
what numpy and pandas print was printed by them.
"""

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_judgments, import_outputs, import_scores
from annotation.models import Annotator, Context, LikertScore, Output, PairwiseJudgment, System, Upload
from core import archives, encodings
from core.column_shapes import printed_list
from core.errors import ImportRefused
from tests.annotation.data.test_import_pages import store
from tests.annotation.data.test_peoples_files import table
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def uploads_folder(settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path / "uploads"


@pytest.fixture
def campaign():
    return create_campaign(slug="talk", pairwise=True, criteria=[CriterionSpec("quality", 1, 5)])


@pytest.fixture
def file(tmp_path):
    def write(name: str, content):
        raw = content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode()
        (tmp_path / name).write_bytes(raw)
        return tmp_path / name

    return write


def zipped(files: dict, **how) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, **how) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, str | bytes) else json.dumps(content))
    return out.getvalue()


def outputs() -> set:
    rows = Output.objects.select_related("context", "system")
    return {(tuple(o.context.turns), o.system.name, o.text) for o in rows}


def judgments() -> set:
    rows = PairwiseJudgment.objects.select_related("output_a__system", "output_b__system", "annotator")
    return {(j.output_a.system.name, j.choice, j.output_b.system.name, j.annotator.name) for j in rows}


def scores() -> set:
    rows = LikertScore.objects.select_related("output__system", "criterion", "annotator")
    return {(s.output.system.name, s.criterion.name, s.annotator.name, s.value) for s in rows}


def refusals(importer, campaign, path, **how) -> list[str]:
    with pytest.raises(ImportRefused) as refused:
        importer(campaign, path, **how)
    assert not Output.objects.exists() and not Context.objects.exists() and not System.objects.exists()
    return [str(error) for error in refused.value.errors]


PARROT = table([["prompt", "response"], ["Hi", "Hello"], ["Bye", "So long"]])
APE = json.dumps([{"question": "Hi", "answer": "Oh"}])
BOTH = [{"context": "Hi", "system": "emu", "output": "Um"}, {"context": "Hi", "system": "owl", "output": "Hu"}]


class TestZippedFolder:
    def test_each_file_is_one_systems_where_it_does_not_name_them(self, campaign, file):
        junk = {"__MACOSX/._ape.json": b"\0", "out/.DS_Store": b"\0", "out/~$ape.xlsx": b"\4boss", "out/readme.md": "# Hi"}
        archive = zipped({"out/parrot.csv": PARROT, "out/ape.json": APE, "out/both.json": BOTH, **junk})
        result = import_outputs(campaign, file("out.zip", archive))
        assert outputs() == {
            (("Hi",), "parrot", "Hello"),
            (("Bye",), "parrot", "So long"),
            (("Hi",), "ape", "Oh"),
            (("Hi",), "emu", "Um"),
            (("Hi",), "owl", "Hu"),
        }
        assert result.unused == ["file out/readme.md"] and result.rows == 5

    def test_errors_of_all_files_are_named_with_file_and_place(self, campaign, file):
        bad = json.dumps([{"prompt": "Hi", "response": 3}, {"response": "x"}])
        archive = zipped({"a/ape.json": bad, "a/parrot.csv": PARROT + "Hm,a,b\n", "a/owl.xlsx": b"no"})
        assert refusals(import_outputs, campaign, file("a.zip", archive)) == [
            "a.zip/a/ape.json, row 1, field 'response': expected text, found a number",
            "a.zip/a/ape.json, row 2, field 'prompt': is missing; it must be given",
            "a.zip/a/owl.xlsx: can't be read as an Excel file (.xlsx)",
            "a.zip/a/parrot.csv, line 4: has 3 cells; the header has 2 columns",
        ]

    @pytest.mark.parametrize(
        ("files", "expected"),
        [
            ({"../parrot.csv": PARROT}, "holds the path '../parrot.csv', which leads out of the folder; zip the folder itself"),
            (
                {"/etc/parrot.csv": PARROT},
                "holds the path '/etc/parrot.csv', which leads out of the folder; zip the folder itself",
            ),
            (
                {"C:\\parrot.csv": PARROT},
                "holds the path 'C:\\\\parrot.csv', which leads out of the folder; zip the folder itself",
            ),
            ({"parrot.pdf": PARROT}, "holds no file of rows (jsonl, ndjson, json, csv, tsv, xlsx, parquet, txt)"),
            ({}, "holds no file of rows (jsonl, ndjson, json, csv, tsv, xlsx, parquet, txt)"),
        ],
    )
    def test_what_is_no_folder_of_rows_is_refused(self, campaign, file, files, expected):
        assert refusals(import_outputs, campaign, file("a.zip", zipped(files))) == [f"a.zip: {expected}"]

    def test_a_bomb_is_refused_by_its_size_before_it_is_unpacked(self, campaign, file, monkeypatch):
        monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 2**20)
        archive = zipped({"a.csv": b"0" * 2**21})
        assert len(archive) < 2**13
        assert refusals(import_outputs, campaign, file("a.zip", archive)) == [
            "a.zip: is longer than 1 MB when unpacked; send it in parts, or an admin can raise it by the setting"
            " MOST_UNPACKED_MB"
        ]

    def test_a_file_that_is_longer_than_the_archive_says_is_damaged(self, campaign, file):
        """The directory gives 5 bytes for PARROT's 40: no more are unpacked, and the checksum does not fit."""
        archive = zipped({"parrot.csv": PARROT})
        at = archive.rindex(b"PK\x01\x02") + 24  # uncompressed size in the central directory: APPNOTE.TXT 4.3.12
        lies = archive[:at] + (5).to_bytes(4, "little") + archive[at + 4 :]
        assert refusals(import_outputs, campaign, file("a.zip", lies)) == [
            "a.zip/parrot.csv: can't be unpacked; the archive is damaged"
        ]

    def test_too_many_files(self, campaign, file, monkeypatch):
        monkeypatch.setattr(archives, "MOST_FILES", 1)
        archive = zipped({"a.csv": PARROT, "b.csv": PARROT})
        assert refusals(import_outputs, campaign, file("a.zip", archive)) == ["a.zip: holds 2 files; at most 1 are read"]

    def test_encrypted_and_broken_archives(self, campaign, file):
        archive = bytearray(zipped({"a.csv": PARROT}))
        archive[archive.rindex(b"PK\x01\x02") + 8] |= 1  # the encryption flag
        assert refusals(import_outputs, campaign, file("a.zip", bytes(archive))) == [
            "a.zip/a.csv: is encrypted; zip the folder without a password"
        ]
        assert refusals(import_outputs, campaign, file("b.zip", b"PK\x03\x04")) == ["b.zip: can't be read as a zip archive"]


def test_a_whole_array_may_stand_on_one_long_line(campaign, file, monkeypatch):
    monkeypatch.setattr(encodings, "MAX_LINE_BYTES", 40)
    rows = [{"prompt": f"Hi {n}", "model": "parrot", "response": "Hello"} for n in range(5)]
    assert import_outputs(campaign, file("a.json", rows)).new["outputs"] == 5
    long = refusals_of_more(campaign, file("a.jsonl", json.dumps(rows[0])))
    assert long == ["a.jsonl, line 1: is longer than 0 MB; a row must be shorter"]
    monkeypatch.setattr(encodings, "MAX_DOCUMENT_BYTES", 100)
    assert refusals_of_more(campaign, file("a.json", rows)) == ["a.json: is longer than 0 MB; write it as JSON lines"]


def refusals_of_more(campaign, path) -> list[str]:
    with pytest.raises(ImportRefused) as refused:
        import_outputs(campaign, path)
    return [str(error) for error in refused.value.errors]


def test_a_system_that_is_named_beside_an_archive_is_that_of_all_its_files(campaign, file):
    import_outputs(campaign, file("a.zip", zipped({"one.csv": PARROT, "two.json": APE.replace("Hi", "Hm")})), system="emu")
    assert {system for _, system, _ in outputs()} == {"emu"} and len(outputs()) == 3


class TestSeveralFilesOnThePage:
    def test_they_are_looked_at_and_imported_together(self, world):
        files = [SimpleUploadedFile("parrot.csv", PARROT.encode()), SimpleUploadedFile("ape.json", APE.encode())]
        page = text(world.sign_in(world.alice).post("import/", {"kind": "outputs", "file": files}, follow=True))
        assert "parrot.csv and 1 more.zip" in page and "nothing is stored yet" in page and "3 rows read" in page
        store(world)
        assert {(("Hi",), "parrot", "Hello"), (("Bye",), "parrot", "So long"), (("Hi",), "ape", "Oh")} <= outputs()
        assert not Upload.objects.get().path.exists()

    def test_errors_name_the_file_and_the_row(self, world):
        files = [SimpleUploadedFile("parrot.csv", PARROT.encode()), SimpleUploadedFile("ape.json", b'[{"question": "Hi"}]')]
        page = text(world.sign_in(world.alice).post("import/", {"kind": "outputs", "file": files}, follow=True))
        assert "parrot.csv and 1 more.zip/ape.json" in page and '<td class="num">row 1</td>' in page
        assert "is missing; it must be given" in page

    def test_what_no_column_holds_is_typed_once_and_kept(self, world):
        world.sign_in(world.alice)
        world.post("import/", {"kind": "outputs", "file": SimpleUploadedFile("parrot.csv", PARROT.encode())})
        stored = Upload.objects.get()
        world.post(f"import/{stored.pk}/", {"context": "prompt", "output": "response", "one_system": "parrot"})
        store(world)
        raw = table([["prompt", "rating"], ["Hi", "4"], ["Bye", "2"]]).encode()
        page = text(world.post("import/", {"kind": "scores", "file": SimpleUploadedFile("s.csv", raw)}, follow=True))
        assert "annotator, where no column holds it" in page and "not checked yet" in page
        typed = {"context": "prompt", "score": "rating", "all_system": "parrot", "all_annotator": "ann"}
        address = f"import/{Upload.objects.first().pk}/"
        page = text(world.post(address, typed))
        assert "Say which column holds: aspect" in page and 'value="ann"' in page  # nothing that was typed is lost
        assert "nothing is stored yet" in text(world.post(address, typed | {"all_aspect": "Overall"}, follow=True))
        world.post(address + "store/")
        assert scores() == {("parrot", "Overall", "ann", 4), ("parrot", "Overall", "ann", 2)}


class TestDatasetsAndPandas:
    @pytest.mark.parametrize("indent", [None, 1])
    @pytest.mark.parametrize(
        "content",
        [
            {"prompt": ["Hi", "Bye"], "model": ["parrot", "ape"], "response": ["Hello", "Oh"]},
            {
                n: dict(zip("01", v))
                for n, v in {"prompt": ["Hi", "Bye"], "model": ["parrot", "ape"], "response": ["Hello", "Oh"]}.items()
            },
            [{"prompt": "Hi", "model": "parrot", "response": "Hello"}, {"prompt": "Bye", "model": "ape", "response": "Oh"}],
        ],
        ids=["to_dict", "DataFrame.to_json", "to_json"],
    )
    def test_columns_and_records(self, campaign, file, content, indent):
        import_outputs(campaign, file("d.json", json.dumps(content, indent=indent)))
        assert outputs() == {(("Hi",), "parrot", "Hello"), (("Bye",), "ape", "Oh")}

    def test_to_csv_with_pandas_index(self, campaign, file):
        raw = ",prompt,model,response\n0,Hi,parrot,Hello\n1,Bye,ape,Oh\n"
        result = import_outputs(campaign, file("d.csv", raw))
        assert outputs() == {(("Hi",), "parrot", "Hello"), (("Bye",), "ape", "Oh")} and result.unused == ["column 1"]

    def test_messages_as_numpy_prints_them(self, campaign, file):
        """str(numpy.array([{...}, {...}], dtype=object)): no comma between the objects, a line break instead."""
        cell = "[{'content': \"Hi, it's\", 'role': 'user'}\n {'content': 'Yes?', 'role': 'assistant'}]"
        import_outputs(campaign, file("d.csv", table([["messages", "model", "response"], [cell, "parrot", "Hello"]])))
        assert Context.objects.get().turns == ["Hi, it's", "Yes?"]
        assert Context.objects.get().metadata == {"roles": ["user", "assistant"]}

    @pytest.mark.parametrize(
        ("cell", "expected"),
        [
            ("['Hi' 'there']", ["Hi", "there"]),  # Python alone would read "Hithere"
            ("['Hi', 'there']", ["Hi", "there"]),
            ("['Hi'\n 'there']", ["Hi", "there"]),
            ("[smiles] hello", None),
            ("['Hi' ... 'there']", None),  # NumPy left something out
            ("['Hi'", None),
            ("[" * 5000, None),
            ("[__import__('os')]", None),
            ("[" + "'a'," * 100_000 + "]", None),
        ],
    )
    def test_printed_lists(self, cell, expected):
        assert printed_list(cell) == expected

    def test_columns_of_different_length(self, campaign, file):
        path = file("d.json", {"prompt": ["Hi", "Bye"], "model": ["a", "b"], "response": ["Hello"]})
        assert refusals(import_outputs, campaign, path) == ["d.json, field 'response': has 1 values; 'prompt' has 2"]

    def test_a_wrong_value_is_told_by_its_row(self, campaign, file):
        path = file("d.json", {"prompt": ["Hi", "Bye"], "model": ["a", "b"], "response": ["Hello", 3]})
        assert refusals(import_outputs, campaign, path) == ["d.json, row 2, field 'response': expected text, found a number"]


def task(number: int, data: dict, *results, **annotation) -> dict:
    done = {"id": 1, "completed_by": 10, "was_cancelled": False, "ground_truth": False, "lead_time": 4.2, "result": results}
    return {"id": number, "data": data, "annotations": [done | annotation], "predictions": []}


def result(kind: str, value: dict, name="pw", to="text1,text2") -> dict:
    return {"from_name": name, "to_name": to, "type": kind, "value": value, "id": "x", "origin": "manual"}


class TestLabelStudio:
    PAIR = {"prompt": "Hi", "model_a": "parrot", "text1": "Hello", "model_b": "ape", "text2": "Oh"}

    def test_pairwise_results_are_judgments(self, campaign, file):
        tasks = [
            task(1, self.PAIR, result("pairwise", {"selected": "left"})),
            task(
                2,
                self.PAIR | {"prompt": "Bye"},
                result("pairwise", {"selected": "right"}),
                completed_by={"id": 7, "email": "e@x"},
            ),
            task(3, self.PAIR | {"prompt": "Hm"}, result("pairwise", {"selected": "left"}), was_cancelled=True),
        ]
        import_judgments(campaign, file("export.json", tasks))
        # stored by the systems' names: ape before parrot
        assert judgments() == {("ape", "B", "parrot", "10"), ("ape", "A", "parrot", "7")}
        assert not Context.objects.filter(turns=["Hm"]).exists()

    def test_its_pairs_are_outputs_and_its_tasks_too(self, campaign, file):
        import_outputs(campaign, file("export.json", [task(1, self.PAIR)]))
        import_outputs(campaign, file("tasks.json", [{"data": {"prompt": "Hi", "model": "emu", "response": "Um"}}]))
        assert outputs() == {(("Hi",), "parrot", "Hello"), (("Hi",), "ape", "Oh"), (("Hi",), "emu", "Um")}

    def test_ratings_numbers_and_numeric_choices_are_scores(self, campaign, file):
        data = [{"prompt": p, "model": "parrot", "response": p.upper()} for p in ("a", "b", "c", "d")]
        results = [
            result("rating", {"rating": 4}, "quality"),
            result("number", {"number": 3}, "quality"),
            result("choices", {"choices": ["2"]}, "quality"),
            result("choices", {"choices": ["politics"]}, "topic"),
        ]
        path = file("e.json", [task(n, d, r) for n, (d, r) in enumerate(zip(data, results))])
        import_outputs(campaign, path)
        done = import_scores(campaign, path)
        assert sorted(s[-1] for s in scores()) == [2, 3, 4]
        assert done.left_out == {"answers topic in words: politics": 1} and done.rows == 4

    def test_a_criterion_in_numbers_and_in_words_is_refused(self, campaign, file):
        data = [{"prompt": p, "model": "parrot", "response": p.upper()} for p in ("a", "b")]
        results = [result("rating", {"rating": 4}, "quality"), result("choices", {"choices": ["fluent"]}, "quality")]
        path = file("e.json", [task(n, d, r) for n, (d, r) in enumerate(zip(data, results))])
        import_outputs(campaign, path)
        with pytest.raises(ImportRefused, match=r"'quality': has points in numbers and in words \('fluent' \(1\)\)"):
            import_scores(campaign, path)
        assert not scores()

    def test_without_judgments_it_says_so(self, campaign, file):
        path = file("e.json", [task(1, self.PAIR, result("rating", {"rating": 4}))])
        assert refusals(import_judgments, campaign, path) == ["e.json: is a file of Label Studio and holds no judgments"]

    def test_what_is_not_its_shape_is_told_by_the_row(self, campaign, file):
        tasks = [
            task(1, self.PAIR, result("pairwise", {"selected": "left"})),
            {"data": self.PAIR, "annotations": [3]},
            {"data": 3},
        ]
        assert refusals(import_judgments, campaign, file("e.json", tasks)) == [
            "e.json, row 2, field 'annotations': expected a list of JSON objects",
            "e.json, row 3, field 'data': is no JSON object; every task of Label Studio has one",
        ]


ITEMS = [
    {"id": "i1", "prompt": "Hi", "responses": ["Hello", "Oh"], "models": ["parrot", "ape"]},
    {"id": "i2", "prompt": "Bye", "responses": ["So long", "Go"], "models": ["parrot", "ape"]},
]
RATED = [{"id": "r1", "prompt": "Hi", "model": "parrot", "response": "Hello"}]


def lines(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


class TestPotato:
    def test_version_1_answers_meet_their_items(self, campaign, file):
        answers = [
            {"id": "i1", "displayed_text": "<p>", "label_annotations": {"preference": {"A": "true"}}, "span_annotations": []},
            {"id": "i2", "displayed_text": "<p>", "label_annotations": {"preference": {"B": "true"}}, "span_annotations": []},
        ]
        archive = {"data/items.jsonl": lines(ITEMS), "annotation_output/ann/annotated_instances.jsonl": lines(answers)}
        archive["annotation_output/annotated_instances.jsonl"] = lines(answers)  # the same again, without names
        done = import_judgments(campaign, file("p.zip", zipped(archive)))
        assert judgments() == {("ape", "B", "parrot", "ann"), ("ape", "A", "parrot", "ann")}
        assert done.unused[-1] == "file annotation_output/annotated_instances.jsonl"

    def test_version_2_states(self, campaign, file):
        """pairwise_annotation.md: selection in binary mode, a negative scale_value for A."""
        states = {"i1": {"preference": {"selection": "tie"}}, "i2": {"strength": {"scale_value": "-2"}}}
        state = {"user_id": "bob", "instance_id_to_label_to_value": states, "instance_id_to_span_to_value": {}}
        archive = {"data/items.json": lines(ITEMS), "annotation_output/bob/user_state.json": json.dumps(state, indent=2)}
        import_judgments(campaign, file("p.zip", zipped(archive)))
        assert judgments() == {("ape", "tie", "parrot", "bob"), ("ape", "B", "parrot", "bob")}

    @pytest.mark.parametrize(
        ("name", "answers"),
        [
            ("annotated_instances.csv", "user,instance_id,displayed_text,quality:::scale_4\nann,r1,<p>,4\n"),
            ("annotations.csv", "instance_id,user_id,quality.4\nr1,ann,true\n"),
            (
                "annotations.jsonl",
                lines([{"instance_id": "r1", "user_id": "ann", "labels": {"quality": {"4": "4"}}, "spans": {}}]),
            ),
            (
                "user_state.json",
                {"user_id": "ann", "instance_id_to_label_to_value": {"r1": [[{"schema": "quality", "name": "4"}, True]]}},
            ),
        ],
        ids=["1 csv", "2 csv", "2 jsonl", "2 state"],
    )
    def test_likert_answers_are_scores(self, campaign, file, name, answers):
        path = file("p.zip", zipped({"items.jsonl": lines(RATED), f"out/{name}": answers}))
        import_outputs(campaign, path)
        import_scores(campaign, path)
        assert outputs() == {(("Hi",), "parrot", "Hello")} and scores() == {("parrot", "quality", "ann", 4)}

    def test_a_programs_answers_are_marked(self, campaign, file):
        row = {"instance_id": "r1", "user_id": "gpt", "annotator_origin": {"kind": "llm"}, "labels": {"quality": {"4": "4"}}}
        path = file("p.zip", zipped({"items.jsonl": lines(RATED), "annotations.jsonl": lines([row])}))
        import_outputs(campaign, path)
        import_scores(campaign, path)
        assert Annotator.objects.get(name="gpt").is_simulated

    def test_its_items_are_outputs(self, campaign, file):
        import_outputs(campaign, file("items.jsonl", lines(ITEMS)))
        assert {o[1:] for o in outputs()} == {("parrot", "Hello"), ("ape", "Oh"), ("parrot", "So long"), ("ape", "Go")}


class TestAutoArena:
    COLUMNS = ["prompt", "model_a", "model_b", "response_a", "response_b", "judge", "winner"]
    ROWS = [
        ["Hi", "parrot", "ape", "Hello", "Oh", "Human", "A"],
        ["Bye", "parrot", "ape", "So long", "Go", "Human", "-"],
        ["Hi", "parrot", "ape", "Hello", "Oh", "gpt-4o", "B"],
    ]

    def test_peoples_votes_are_judgments_and_a_models_are_not(self, campaign, file):
        done = import_judgments(campaign, file("h2h.csv", table([self.COLUMNS, *self.ROWS])))
        assert judgments() == {("ape", "B", "parrot", "Human"), ("ape", "tie", "parrot", "Human")}
        assert dict(Annotator.objects.values_list("name", "is_simulated")) == {"Human": False}
        assert done.rows == 2 and done.elsewhere["judge_pairs"] == 1
        assert done.assumed[0].startswith("Read as AutoArena.")

    def test_their_texts_are_outputs(self, campaign, file):
        import_outputs(campaign, file("h2h.csv", table([self.COLUMNS, *self.ROWS])))
        assert {o[1:] for o in outputs()} == {("parrot", "Hello"), ("ape", "Oh"), ("parrot", "So long"), ("ape", "Go")}

    def test_a_judges_file_names_no_judge(self, campaign, file):
        raw = table([[*self.COLUMNS[:5], "winner"], [*self.ROWS[0][:5], "A"]])
        path = file("Human-judge-votes.csv", raw)
        wanted = "field 'annotator': is in no row. If it is the same in all rows, say it: --constant annotator=VALUE"
        assert wanted in refusals(import_judgments, campaign, path)[0]
        import_judgments(campaign, path, constants={"annotator": "ann"})
        assert judgments() == {("ape", "B", "parrot", "ann")}


class TestChoices:
    def row(self, **more) -> dict:
        return {
            "context": "Hi",
            "system_a": "ape",
            "output_a": "Oh",
            "system_b": "bee",
            "output_b": "Bz",
            "annotator": "ann",
            **more,
        }

    @pytest.mark.parametrize(
        ("said", "left", "stored"),
        [("model_a", "A", "A"), ("left", "A", "A"), ("left", "B", "B"), ("right", "B", "A"), ("tie (bothbad)", "A", "tie")],
    )
    def test_other_words(self, campaign, file, said, left, stored):
        import_judgments(campaign, file("j.jsonl", self.row(choice=said, shown_left=left)))
        assert PairwiseJudgment.objects.get().choice == stored

    def test_left_of_nobody_knows_what(self, campaign, file):
        wrong = refusals(import_judgments, campaign, file("j.jsonl", self.row(choice="left", shown_left=None)))
        assert wrong == ["j.jsonl, line 1, field 'choice': is left, but shown_left does not say which of A and B stood there"]

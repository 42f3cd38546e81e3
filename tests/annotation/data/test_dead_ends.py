"""What people send and tools write beside the plain cases: read, with a sentence on what was taken for granted, or asked about
in words that lead on."""

import gzip
import io
import json

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.files import Reading
from annotation.data.importer import import_file, import_outputs
from annotation.data.spellings import folded
from annotation.models import LikertScore, Upload
from annotation.outcome import Outcome, outcome_named
from core.column_shapes import printed_list
from core.errors import ImportRefused
from core.rows import BadField, Row
from evaluator.models import ImportedScore
from tests.annotation.data.doors import SAMPLES

ROWS = [{"context_id": "c1", "context": "Q", "system": name, "output": f"{name} 1"} for name in ("alpha", "beta")]
HEADER, CELLS = list(ROWS[0]), [list(row.values()) for row in ROWS]


def read(content: bytes | str, name: str, kind: str = "outputs", **how) -> tuple[list[dict], list[str], list[str], dict]:
    """(rows, what was taken for granted, errors, what was left out)"""
    errors: list = []
    reading = Reading(kind, None, on_error=errors.append, **how)
    rows = list(reading.rows(io.BytesIO(content.encode() if isinstance(content, str) else content), name))
    return (
        [row.fields for row in rows],
        reading.account.assumed,
        [str(error) for error in errors],
        dict(reading.account.left_out),
    )


def table(*above: str, mark: str = ",") -> str:
    return "\n".join([*above, *(mark.join(cells) for cells in [HEADER, *CELLS])])


def sheets(*tables, hidden: str = "", hidden_row: int = 0) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in tables:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
        sheet.sheet_state = "hidden" if title == hidden else "visible"
        if hidden_row:
            sheet.row_dimensions[hidden_row].hidden = True
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (json.dumps({"version": 1, "data": ROWS}), "a.json", "'data'. The rest is not read: 'version'."),
        (json.dumps({"features": [], "rows": [{"row": row} for row in ROWS]}), "a.json", "The rows are those under 'rows'."),
        (json.dumps({"columns": HEADER, "data": CELLS}), "a.json", "The rows are those under 'data'."),
        (json.dumps([HEADER, *CELLS]), "a.json", ""),
        (table("Study 1", ""), "a.csv", "The header is row 3; what stands above it is taken for a title."),
        (table("Study 1,,,"), "a.csv", "The header is row 2;"),
        (table("sep=;", mark=";"), "a.csv", ""),
        (table(mark="\t"), "a.txt", ""),
        (table(mark="\t").encode("utf-16"), "a.txt", ""),
        (sheets(("one", [HEADER, *CELLS]), hidden_row=2), "a.xlsx", "Rows that the sheet hides are read, too: 1."),
        (table() + "\n" + table(), "a.csv", "A row that repeats the header is left out."),
        (table(mark="\t"), "a.xls", ""),
        (table() + "\n" + table().replace("system", " System", 1), "a.csv", "A row that repeats the header is left out."),
        (sheets(("one", [["Study 1"], [], HEADER, *CELLS])), "a.xlsx", "The header is row 3;"),
        (
            sheets(("old", [HEADER, ["c1", "Q", "gamma", "x"]]), ("new", [HEADER, *CELLS]), hidden="old"),
            "a.xlsx",
            "'old' is hidden",
        ),
    ],
)
def test_rows_are_found(content, name, said):
    rows, assumed, errors, _ = read(content, name)
    assert not errors and {(row["system"], row["output"]) for row in rows} == {("alpha", "alpha 1"), ("beta", "beta 1")}
    assert said in " ".join(assumed) and bool(assumed) == bool(said)


@pytest.mark.parametrize("content", [table("Study 1", "", "of 2026"), table() + "\n" + table() + "\n" + table()])
def test_what_a_table_has_beside_its_rows_is_counted(db, content):
    """Two rows of titles, and twice the header among the rows."""
    campaign = create_campaign(slug="talk", criteria=[])
    done = import_outputs(campaign, io.BytesIO(content.encode()), "a.csv")
    assert (sum(done.left_out.values()), done.new["outputs"]) == (2, 2)
    assert done.rows == 2 + done.new["outputs"] + done.repeated and len(done.listed) == 2


WRONG_NAMES = {  # {what it is by its first bytes: (content, names that it may not have)}
    "is a PDF": (b"%PDF-1.7\n%\xe2\xe3", ["a.json", "a.csv"]),
    "is a gzip file; end its name in .gz": (gzip.compress(b"{}"), ["a.jsonl", "a.zip", "a.csv"]),
    "is packed twice with gzip; unpack it once": (gzip.compress(gzip.compress(b"{}")), ["a.jsonl.gz"]),
    "is no gzip file by its first bytes; take .gz off its name": (b'{"a": 1}', ["a.jsonl.gz"]),
    "is an Excel file; end its name in .xlsx": (sheets(("one", [HEADER, *CELLS])), ["a.csv", "a.xls", "a.json"]),
    "is a zip archive; end its name in .zip": (b"PK\x03\x04 and more", ["a.jsonl"]),
    "is a sheet of OpenDocument (.ods); save it": (
        b"PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
        ["a.csv", "a.xlsx"],
    ),
    "is packed with Zstandard; unpack it first": (b"\x28\xb5\x2f\xfd 1", ["a.jsonl", "a.txt"]),
    "is a file of old Excel (.xls) or Word; save it": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ["a.xls", "a.csv", "a.xlsx"]),
    "is a web page (HTML), as some programs save .xls": (b"<html><table>", ["a.xls", "a.csv"]),
    "is a Parquet file; end its name in .parquet": (b"PAR1 1", ["a.json"]),
}


@pytest.mark.parametrize(("said", "name"), [(said, name) for said, (_, names) in WRONG_NAMES.items() for name in names])
def test_a_file_under_a_wrong_name_is_named(said, name):
    errors: list = []
    with pytest.raises(ImportRefused) as refused:
        list(Reading("outputs", None, on_error=errors.append).rows(io.BytesIO(WRONG_NAMES[said][0]), name))
    assert f"{name}: {said}" in str(refused.value) and not errors


@pytest.mark.parametrize("ending", ["csv", "tsv", "xls", "csv.gz"])
@pytest.mark.parametrize(
    "content", [json.dumps(ROWS), "".join(json.dumps(row) + "\n" for row in ROWS), json.dumps({"data": ROWS})]
)
def test_json_under_the_name_of_a_table(content, ending):
    raw = content.encode()
    rows, assumed, errors, _ = read(gzip.compress(raw) if ending.endswith("gz") else raw, f"a.{ending}")
    assert [row["output"] for row in rows] == ["alpha 1", "beta 1"] and not errors
    assert "The file is JSON, whatever its name says, and is read as such." in assumed


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_lines_that_end_as_on_old_macs(end):
    """Excel saves "CSV (Macintosh)" so."""
    assert [row["output"] for row in read(table().replace("\n", end), "a.csv")[0]] == ["alpha 1", "beta 1"]
    assert [row["output"] for row in read(f"one{end}two{end}", "a.txt")[0]] == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "flaw"),
    [
        ("\u200b\u200c\u2060", "holds no letter that can be seen"),
        ("\u202eevil\u202c", "holds the character U\\+202E"),
        ("a\x1b[31m", "holds the character U\\+001B"),
    ],
)
def test_names_that_are_not_what_is_seen(name, flaw):
    with pytest.raises(BadField, match=flaw):
        Row(1, {"system": name}).name("system")


def test_a_variation_selector_makes_no_other_name():
    assert folded("s1\ufe0f") == folded("s1")


def test_rows_without_an_id_among_others_are_counted(db):
    """NaN, as pandas writes it."""
    rows = json.dumps(ROWS[0]) + "\n" + json.dumps(ROWS[1]).replace('"c1"', "NaN")
    done = import_outputs(create_campaign(slug="talk", criteria=[]), io.BytesIO(rows.encode()), "a.jsonl")
    assert done.assumed == ["Rows without a context_id, whose contexts are known by their text: 1."]
    assert done.new["contexts"] == 1


def test_a_text_may_begin_as_another_file_does():
    assert [row["output"] for row in read("<html>\n%PDF\nRar!\n", "a.txt")[0]] == ["<html>", "%PDF", "Rar!"]


TEXTS = {"context": "Q", "system_a": "m1", "output_a": "A", "system_b": "m2", "output_b": "B"}


def test_an_id_of_each_vote_is_no_context():
    """Three votes on one pair of texts, each with an id of its own, and three with one id."""
    vote = TEXTS | {"annotator": "x", "choice": "A"}
    rows, assumed, *_ = read("\n".join(json.dumps({"id": n} | vote) for n in range(3)), "a.jsonl", "judgments")
    assert not any("context_id" in row for row in rows)
    assert assumed == ["The column id numbers the rows, so that contexts are known by their text."]
    rows, assumed, *_ = read("\n".join(json.dumps({"id": 1} | vote) for n in range(3)), "a.jsonl", "judgments")
    assert [row["context_id"] for row in rows] == [1, 1, 1] and not assumed


def test_a_table_without_a_title_keeps_its_first_row():
    assert [row["output"] for row in read("output\none\ntwo\n", "a.csv")[0]] == ["one", "two"]
    rows = read(",output\n0,one\n1,two\n", "a.csv")[0]  # an index that pandas does not name
    assert [row["output"] for row in rows] == ["one", "two"]


@pytest.mark.parametrize("word", ["ja", "WAHR", "oui", "sí", "si\u0301", "是", "نعم", "TRUE", "1.0"])
def test_yes_in_the_products_languages(word):
    assert Row(1, {"simulated": word}).truth("simulated") is True


@pytest.mark.parametrize("word", ["nein", "FALSCH", "non", "falso", "否", "لا", "0"])
def test_no_in_the_products_languages(word):
    assert Row(1, {"simulated": word}).truth("simulated") is False


def scored(*values, **more) -> str:
    places = [("c1", "alpha"), ("c1", "beta"), ("c2", "alpha"), ("c2", "beta")]
    row = {"aspect": "Quality", "annotator": "ann"} | more
    return "\n".join(json.dumps(row | {"context_id": c, "system": s, "score": v}) for (c, s), v in zip(places, values))


class TestScores:
    @pytest.fixture
    def campaign(self, db):
        campaign = create_campaign(slug="talk", criteria=[CriterionSpec("Quality", 1, 5), CriterionSpec("Share", 0, 100)])
        import_outputs(campaign, SAMPLES / "common.outputs.jsonl")
        return campaign

    def stored(self, campaign, text: str, kind: str = "scores", **how):
        done = import_file(campaign, kind, io.BytesIO(text.encode()), "a.jsonl", **how)
        return [float(v) for v in LikertScore.objects.order_by("pk").values_list("value", flat=True)], done

    def test_percentages_are_numbers_of_a_scale_to_100(self, campaign):
        values, done = self.stored(campaign, scored("85%", "7.5 %", aspect="Share"))
        assert values == [85, 7.5] and done.assumed == [
            "Scores in percent are stored as numbers without the sign, as 85 for 85%."
        ]
        with pytest.raises(ImportRefused, match="in percent in some rows and not in all"):
            self.stored(campaign, scored("85%", 0.85, aspect="Share", annotator="bea"))
        with pytest.raises(ImportRefused, match="is 85, outside the scale 1 to 5"):
            self.stored(campaign, scored("85%"))

    def test_words_are_points_where_somebody_says_their_order(self, campaign):
        words = scored("agree", "Strongly  Agree", "neutral", "n.a.")
        with pytest.raises(ImportRefused, match="list the scale's words from the lowest to the highest"):
            self.stored(campaign, words)
        order = "strongly disagree | disagree | neutral | agree | strongly agree"
        values, done = self.stored(campaign, words, constants={"scale": order})
        assert values == [4, 5, 3] and done.left_out == {"has no score (n.a.)": 1}
        assert done.assumed == ["On 'Quality', 'neutral' is 3, 'agree' is 4, 'Strongly  Agree' is 5."]
        with pytest.raises(ImportRefused, match="lists 2 words, but 'Quality' has 5 points"):
            self.stored(campaign, scored("good", annotator="bea"), constants={"scale": "bad | good"})

    def test_words_are_points_where_the_campaign_gives_them(self, campaign):
        campaign.criteria.filter(name="Quality").update(anchors={"2": "poor"}, high_label="very good")
        values, _ = self.stored(campaign, scored("Poor", "very good"))
        assert values == [2, 5]

    def test_a_criterion_in_other_letters_is_the_same(self, campaign):
        _, done = self.stored(campaign, scored(3, aspect="QUALITY ", scale=[1, 5]))
        assert campaign.criteria.count() == 2 and done.assumed == ["The criterion 'Quality' stands for 'QUALITY' too."]

    def test_nan_is_missing(self, campaign):
        values, done = self.stored(campaign, scored(3, float("nan")))
        assert values == [3] and done.left_out == {"has no score": 1}

    def test_who_is_a_program_is_asked(self, campaign):
        _, done = self.stored(campaign, scored(3, annotator="gpt-4o"))
        assert "'gpt-4o' are stored as people, and are called as language models are" in done.assumed[0].replace(
            "annotators ", ""
        )
        with pytest.raises(ImportRefused, match="is true in some rows of the annotator 'bea' and false in others"):
            rows = [json.loads(row) for row in scored(3, 4, annotator="bea").splitlines()]
            text = "\n".join(json.dumps(row | {"simulated": bool(n)}) for n, row in enumerate(rows))
            self.stored(campaign, text)

    def test_the_direction_of_judges_is_asked(self, campaign):
        rows = scored(12.5, judge="word_perplexity")
        with pytest.raises(ImportRefused, match="of 'word_perplexity' the lowest score may be the best; say best: low"):
            self.stored(campaign, rows, "judge_scores")
        self.stored(campaign, rows, "judge_scores", constants={"best": "low"})
        assert ImportedScore.objects.get().value == -12.5
        assert self.stored(campaign, rows, "judge_scores", constants={"best": "low"})[1].repeated == 1

    def test_a_column_that_nobody_named_is_pointed_at(self, campaign):
        text = "\n".join(
            json.dumps({"context_id": "c1", "system": s, "grade_it": 3, "annotator": "a"}) for s in ("alpha", "beta")
        )
        with pytest.raises(ImportRefused, match="is in no row. If one of the columns holds it, name it: --column"):
            self.stored(campaign, text, constants={"aspect": "Quality"})

    def test_a_file_whose_answers_are_all_left_out_is_accounted_for_on_its_page(self, campaign, client, settings, tmp_path):
        settings.UPLOADS_DIR = tmp_path
        from annotation.models import User

        user = User.objects.create_superuser("alice", password="a-long-password")
        client.force_login(user)
        label = {"id": 1, "text": "alpha answers", "label": ["a", "b"], "Comments": []}
        file = SimpleUploadedFile("all.jsonl", json.dumps(label).encode())
        page = client.post("/c/talk/import/", {"kind": "scores", "file": file}, follow=True)
        assert page.status_code == 200 and "names more than one point of label" in page.content.decode()
        assert Upload.objects.get().result["left_out"] == {"names more than one point of label": 1}


TALK = [{"role": "user", "content": "Q1"}, {"role": "assistant", "content": "one"}]
LONGER = [*TALK, {"role": "user", "content": "Q2"}, {"role": "assistant", "content": "two"}]
SHORT = {"conversation_a": TALK, "conversation_b": TALK}
VOTE = {"question_id": 81, "model_a": "m1", "model_b": "m2", "winner": "model_a", "judge": "expert", "turn": 1}


@pytest.mark.parametrize(
    ("kind", "row", "expected"),
    [
        # a vote on the first of two turns is about the first answer
        ("judgments", VOTE | {"conversation_a": LONGER, "conversation_b": LONGER}, {"output_a": "one", "context_id": "81"}),
        ("judgments", VOTE | {"turn": 2, "conversation_a": LONGER, "conversation_b": LONGER}, {"output_a": "two"}),
        (
            "judgments",
            VOTE | {"judge": None, "judge_hash": "aa", "conversation_a": TALK, "conversation_b": TALK},
            {"annotator": "aa"},
        ),
        ("judge_pairs", VOTE | SHORT | {"judge": "gpt4_pair"}, {"judge": "gpt4_pair", "choice": "model_a"}),
        (
            "judgments",
            {"chosen": "\n\nHuman: Q\n\nAssistant: yes", "rejected": "\n\nHuman: Q\n\nAssistant: no"},
            {"output_a": "yes", "output_b": "no", "choice": "A"},
        ),
        (
            "scores",
            {"WorkerId": "w", "Input.system": "s", "Answer.Fit.3": "false", "Answer.Fit.4": "true"},
            {"aspect": "Fit", "score": 4},
        ),
        (
            "scores",
            {"WorkerId": "w", "Input.system": "s", "Answer.taskAnswers": '[{"Fit": {"3": false, "4": true}}]'},
            {"aspect": "Fit", "score": 4},
        ),
        (
            "scores",
            {"fields": {"text": "t"}, "responses": [{"values": {"q": {"value": 4}}, "user_id": "u", "status": "submitted"}]},
            {"aspect": "q", "score": 4, "annotator": "u"},
        ),
        (
            "scores",
            {"text": "t", "q.responses": "['4']", "q.responses.users": "['u']", "q.responses.status": "['submitted']"},
            {"aspect": "q", "score": 4, "annotator": "u"},
        ),
        (
            "outputs",
            {"instruction": "Translate.", "input": "the cat", "output": "le chat"},
            {"context": "Translate.\n\nthe cat", "output": "le chat"},
        ),
    ],
)
def test_tools_rows(kind, row, expected):
    rows, _, errors, _ = read(json.dumps(row), "a.jsonl", kind)
    assert not errors and len(rows) == 1
    assert {name: rows[0][name] for name in expected} == expected


PICTURE = [{"role": "user", "content": [{"type": "image", "image": "x"}]}, TALK[1]]
LISTS = {"model_a": "m1", "model_b": "m2", "winner_model_a": 1, "winner_model_b": 0, "winner_tie": 0, "prompt": '["Q"]'}
BLANK = {
    "annotation_id": 1,
    "annotator": "a",
    "lead_time": 1,
    "preference": None,
    "prompt": "Q",
    "model_a": "m1",
    "model_b": "m2",
}
BLANK |= {"response_a": "x", "response_b": "y"}
FAILED = {
    "id": 1,
    "epoch": 1,
    "input": "Q",
    "output": {"model": "m", "choices": [], "completion": ""},
    "error": {"message": "x"},
}


@pytest.mark.parametrize(
    ("kind", "row", "reason"),
    [
        ("judgments", VOTE | {"conversation_a": PICTURE, "conversation_b": PICTURE}, "has a message without text"),
        (
            "judgments",
            VOTE | {"model_b": "m1", "conversation_a": TALK, "conversation_b": TALK},
            "compares a system with itself",
        ),
        ("judgments", LISTS | {"response_a": "[null]", "response_b": '["x"]'}, "has a turn without a text in response_a"),
        ("judgments", LISTS | {"response_a": '["\\ud83d"]', "response_b": '["x"]'}, "holds half of a surrogate pair"),
        ("outputs", FAILED, "has no completion"),
        ("judgments", BLANK, "has no choice"),
    ],
)
def test_one_row_that_cannot_be_read_leaves_the_others(kind, row, reason):
    rows, _, errors, left_out = read(json.dumps(row), "a.jsonl", kind)
    assert not errors and not rows and any(said.startswith(reason) for said in left_out)


def test_names_of_metrics_that_lm_eval_calls_low_carry_it():
    row = {"doc_id": 0, "doc": {}, "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": {}}}, "resps": [["R"]], "target": "T"}
    row |= {"filter": "none", "metrics": ["ter", "bleu"], "ter": 0.4, "bleu": 0.6, "doc_hash": "h"}
    rows, assumed, _, _ = read(json.dumps(row), "a.jsonl", "judge_scores")
    assert [(r["judge"], r.get("best")) for r in rows] == [("ter", "low"), ("bleu", None)]
    assert "The lowest is the best of its metrics bits_per_byte" in assumed[0]


VOTE = {"context_id": "c1", "system_a": "alpha", "system_b": "beta", "annotator": "ann"}


@pytest.mark.parametrize("kind", ["judgments", "judge_pairs", "scores", "judge_scores"])
def test_a_key_that_some_rows_lack_is_an_empty_cell(kind):
    """JSON leaves out the key where nothing was said, as Label Studio's JSON_MIN; where no row has it, it is missing."""
    name = "choice" if kind in ("judgments", "judge_pairs") else "score"
    rows = read("\n".join(json.dumps(VOTE | said) for said in ({name: "1"}, {})), "a.jsonl", kind)[0]
    assert [row[name] for row in rows] == ["1", None]
    assert name not in read(json.dumps(VOTE), "a.jsonl", kind)[0][0]


def test_mturks_radio_buttons_for_a_side():
    """crowd-radio-group: a true or false for each button; left is the first text."""
    shown = {f"Input.{name}": name for name in ("system_a", "output_a", "system_b", "output_b")} | {"Input.context": "Q"}
    pressed = lambda side: {f"Answer.pref.{one}": str(one == side).lower() for one in ("left", "right", "same")}
    rows = [shown | {"WorkerId": side} | pressed(side) for side in ("left", "right", "same")]
    votes, *_ = read("\n".join(map(json.dumps, rows)), "a.jsonl", "judgments")
    assert [(vote["annotator"], vote["choice"]) for vote in votes] == [(side, side) for side in ("left", "right", "same")]
    assert all("aspect" not in vote for vote in votes)


def test_argillas_lists_as_numpy_prints_them():
    row = {"context": "Q", "system": "m", "output": "o", "Quality.responses": "[4 2]", "Quality.responses.users": "['a' 'b']"}
    scores, *_ = read(json.dumps(row), "a.jsonl", "scores")
    assert [(one["annotator"], one["score"]) for one in scores] == [("a", 4), ("b", 2)]


@pytest.mark.parametrize(
    ("cell", "value"), [("[4 2]", [4, 2]), ("[1. -2.5]", [1.0, -2.5]), ("[1, -2]", [1, -2]), ("[a]", None)]
)
def test_printed_numbers(cell, value):
    assert printed_list(cell, numbers=True) == value
    assert printed_list("[4 2]") is None  # in a column of texts it is one


def test_what_fastchat_says_of_a_reply():
    chat = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
    row = {"question_id": 1, "model_a": "m", "model_b": "n", "conversation_a": chat, "conversation_b": chat, "turn": 1}
    row["judge"] = ["gpt-4", "pair-v2"]
    rows = [row | {"winner": winner} for winner in ("tie (inconsistent)", "error", "model_a")]
    said, _, errors, left_out = read("\n".join(map(json.dumps, rows)), "a.jsonl", "judge_pairs")
    assert [outcome_named(one["choice"]) for one in said] == [Outcome.TIE, Outcome.A]
    assert left_out == {"has no winner": 1} and not errors


def batch(key: str, body: dict | None, status: int = 200) -> dict:
    return {"id": f"batch_{key}", "custom_id": key, "response": {"status_code": status, "body": body}, "error": None}


def test_a_batch_of_chats():
    """OpenAI's batch output: custom_id is the context, and id numbers the requests. Both endpoints; a call of a tool has no
    text."""
    message = {"index": 0, "message": {"role": "assistant", "content": "hi"}}
    text = {"type": "message", "content": [{"type": "output_text", "text": "ho"}]}
    rows = [
        batch("c1", {"model": "gpt", "choices": [message]}),
        batch("c2", {"model": "gpt", "output": [{"type": "reasoning"}, text]}),
        batch("c3", {}, status=400),
        batch("c4", {"model": "gpt", "output": []}),
    ]
    found, assumed, _, left_out = read("\n".join(map(json.dumps, rows)), "a.jsonl")
    assert found == [
        {"context_id": key, "system": "gpt", "output": said, "sample": 0} for key, said in (("c1", "hi"), ("c2", "ho"))
    ]
    assert left_out == {"has no answer (status 400)": 1, "has no text": 1} and "custom_id is the context" in assumed[0]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "row", "said"),
    [
        ("outputs", {"info": {"post": "Q"}, "system": "m", "output": "o"}, "--column context=COLUMN, .*: 'info.post'."),
        ("judgments", TEXTS | {"choice": "A"}, "say it: --constant annotator=VALUE, or on the file's page."),
    ],
)
def test_a_field_that_no_row_has(kind, row, said):
    """The ways are said with the columns that there are, those inside of objects too."""
    with pytest.raises(ImportRefused, match=said):
        import_file(create_campaign(slug="talk", criteria=[]), kind, io.BytesIO(json.dumps(row).encode()), "a.jsonl")

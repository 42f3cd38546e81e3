"""Files that once were read as something else than their people had meant, without a word: each is read right, or asked about,
or what was taken for granted is said. The right values stand beside each file, by hand."""

import csv
import io
import json
import unicodedata
from pathlib import Path

import openpyxl
import pytest

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.direction import may_be_low
from annotation.data.importer import import_answers, import_file, import_judgments, import_outputs, import_scores
from annotation.models import Context, LikertScore, PairwiseJudgment, Reference
from annotation.outcome import outcome_named
from core.errors import ImportRefused
from tests.annotation.data.doors import everywhere, installation, outputs, scores

__all__ = ["installation"]
pytestmark = pytest.mark.django_db
HEADER = ["context_id", "context", "system", "output"]
TEXTS = [[c, f"Question {c}", s, f"{s} says {c}"] for c in ("c1", "c2") for s in ("elm", "fir")]


@pytest.fixture
def campaign():
    return create_campaign(slug="talk", criteria=[CriterionSpec("Quality", 0, 100)], pairwise=True)


def table(rows, delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue()


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def book(rows, *merged: str) -> bytes:
    made, out = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        made.active.append(row)
    for cells in merged:
        made.active.merge_cells(cells)
    made.save(out)
    return out.getvalue()


@pytest.fixture
def texts(campaign, tmp_path):
    import_outputs(campaign, written(tmp_path, "outputs.csv", table([HEADER, *TEXTS])))
    return campaign


ABOUT = ["context_id", "system", "aspect", "annotator", "score"]


def scored(*values: str, delimiter: str = ",", annotators=("ann", "bea")) -> str:
    """Of elm on c1, a value of each annotator."""
    rows = [["c1", "elm", "Quality", who, value] for who, value in zip(annotators, values, strict=True)]
    return table([ABOUT, *rows], delimiter)


class TestWordsForAMissingValue:
    """R's write.csv writes NA in each empty cell."""

    def test_in_fields_that_may_be_missing(self, installation, tmp_path):
        header = [*HEADER, "group", "checkpoint", "references", "sample"]
        rows = [[*row, "NA", "NA", "NA", "NA"] for row in TEXTS]
        rows[0][4:] = ["tea", "NA", "Gladly.", "NA"]
        rows[1][4:] = ["tea", "NA", "NA", "NA"]
        file = written(tmp_path, "r.csv", table([header, *rows]))
        stored, _, account = everywhere(installation, "outputs", str(file), outputs)
        assert [row[0] for row in stored] == ["c1", "c1", "c2", "c2"]
        assert set(Context.objects.values_list("key", "group")) == {("c1", "tea"), ("c2", "")}
        assert set(Reference.objects.values_list("text", flat=True)) == {"Gladly."}
        assert {f"In the column {name}, 'NA' stands for no value." for name in header[4:]} <= {*account["assumed"]}

    def test_as_names_of_people_and_systems(self, texts, tmp_path):
        done = import_scores(texts, written(tmp_path, "s.csv", scored("50", "50", annotators=("nan", "bea"))))
        said = "The annotator 'nan' is called as a missing value is. Several may be one under this name."
        assert said in done.assumed and done.new["annotators"] == 2
        done = import_outputs(texts, written(tmp_path, "o.csv", table([HEADER, ["c1", "Question c1", "None", "x"]])))
        assert "The system 'None' is called as a missing value is. Several may be one under this name." in done.assumed


class TestChoices:
    @pytest.mark.parametrize("word", ["-", "–", "?"])
    def test_a_dash_may_be_a_tie_or_no_answer(self, campaign, tmp_path, word):
        assert outcome_named(word) is None
        header = ["context", "system_a", "output_a", "system_b", "output_b", "annotator", "choice"]
        about = ["Q", "elm", "x", "fir", "y", "ann"]
        with pytest.raises(ImportRefused, match="field 'choice': expected A, tie or B, found"):
            import_judgments(campaign, written(tmp_path, "j.csv", table([header, [*about, word]])))
        assert not PairwiseJudgment.objects.exists()


class TestTwoThingsAtOnce:
    def test_an_answer_of_somebody_who_cannot_say(self, texts, tmp_path):
        rows = [[*ABOUT, "cannot_say"], ["c1", "elm", "Quality", "ann", "40", "true"]]
        with pytest.raises(ImportRefused, match="field 'cannot_say': is true, and score is \"40\""):
            import_scores(texts, written(tmp_path, "s.csv", table(rows)))
        header = ["context_id", "system_a", "system_b", "annotator", "choice", "cannot_say"]
        for choice in ("A", "fir"):
            with pytest.raises(ImportRefused, match="field 'cannot_say': is true, and choice is"):
                import_judgments(texts, written(tmp_path, "j.csv", table([header, ["c1", "elm", "fir", "ann", choice, "yes"]])))

    @pytest.mark.parametrize(("column", "values"), [("human_written", ("yes", "no")), ("total_iterations", ("100", "200"))])
    def test_what_is_said_of_a_whole_system_or_checkpoint(self, campaign, tmp_path, column, values):
        rows = [[*row, "10", value] for row, value in zip((TEXTS[0], TEXTS[2]), values, strict=True)]
        file = written(tmp_path, "o.csv", table([[*HEADER, "iteration", column], *rows]))
        with pytest.raises(ImportRefused, match=f"line 3, field '{column}': is "):
            import_outputs(campaign, file)

    def test_two_comments_on_one_answer(self, texts, tmp_path):
        said = "Answers that came again with another comment, of which the first stays: 1."
        rows = [["c1", "elm", "Quality", "ann", "40", comment] for comment in ("good", "bad", "good")]
        done = import_scores(texts, written(tmp_path, "s.csv", table([[*ABOUT, "reason"], *rows])))
        assert said in done.assumed and LikertScore.objects.get().detail == {"reason": "good"}
        header = ["context_id", "system_a", "system_b", "annotator", "choice", "reason"]
        rows = [["c1", "elm", "fir", "ann", "A", "good"], ["c1", "fir", "elm", "ann", "B", "bad"]]
        done = import_judgments(texts, written(tmp_path, "j.csv", table([header, *rows])))
        assert said in done.assumed and PairwiseJudgment.objects.get().reason == "good"

    def test_what_stands_beside_a_text_that_is_here(self, campaign, tmp_path):
        """A context has the metadata and the knowledge of its first row, and an output the figures of its own."""
        rows = [dict(zip(HEADER, row)) | {"metadata": {"topic": "tea"}, "logprob": -1.5} for row in TEXTS]
        file = tmp_path / "o.jsonl"
        file.write_text("\n".join(json.dumps(row) for row in rows))
        assert import_outputs(campaign, file).assumed == [] and import_outputs(campaign, file).assumed == []
        rows = [rows[0] | {"metadata": {"topic": "milk"}}, rows[1] | {"knowledge": "Tea is hot."}, rows[2] | {"logprob": -2.0}]
        file.write_text("\n".join(json.dumps(row) for row in rows))
        assert import_outputs(campaign, file).assumed == [
            "Rows with other metadata or knowledge than their context has from the first of its rows, which stays: 2.",
            "Outputs that are here already, and came with other figures, which are not kept: 1.",
        ]
        assert Context.objects.get(key="c1").metadata == {"topic": "tea"}


class TestNumbers:
    def test_python_alone_reads_an_underscore(self, texts, tmp_path):
        with pytest.raises(ImportRefused, match='expected a number, found "4_2"'):
            import_scores(texts, written(tmp_path, "s.csv", scored("4_2", "50")))

    def test_a_comma_and_a_point_in_one_file(self, texts, tmp_path):
        """Where 3,5 is 3.5, 1.000 is a thousand, and not 1."""
        wrong = "line 3, field 'score': is 1.000, and other rows have a decimal comma; write thousands without a point"
        with pytest.raises(ImportRefused, match=wrong):
            import_scores(texts, written(tmp_path, "s.csv", scored("3,5", "1.000", delimiter=";")))
        import_scores(texts, written(tmp_path, "s.csv", scored("3.5", "1.000", delimiter=";")))
        assert [value for *_, value in scores(texts)] == [3.5, 1.0]

    @pytest.mark.parametrize("name", ["1.23457E+15", "1,23E+11", "1.2345678901234568e+18"])
    def test_ids_that_a_spreadsheet_has_cut(self, texts, tmp_path, name):
        with pytest.raises(ImportRefused, match="its last digits are lost, and several ids may be one"):
            import_scores(texts, written(tmp_path, "s.csv", scored("40", "50", annotators=(name, "bea"))))


class TestExcel:
    def test_merged_cells(self, installation, tmp_path):
        """c1 and its group are merged over the rows of two systems, and the group over c2, too; the title is merged over
        columns, and a word of the header over two of them."""
        rows = [[*row, ""] for row in TEXTS]
        rows[1][:2] = rows[3][:2] = ["", ""]
        rows[0][4] = "tea"
        title = ["Outputs of the pilot", "", "", "", ""]
        file = written(
            tmp_path, "m.xlsx", book([title, [*HEADER, "group"], *rows], "A1:E1", "A3:A4", "B3:B4", "A5:A6", "B5:B6", "E3:E6")
        )
        stored, _, account = everywhere(installation, "outputs", str(file), outputs)
        assert stored == sorted((c, (text,), s, said) for c, text, s, said in TEXTS)
        assert set(Context.objects.values_list("key", "group")) == {("c1", "tea"), ("c2", "tea")}
        assert "Cells that are merged over several rows are read as if each row held the value: 5." in account["assumed"]

    def test_a_merged_criterion_of_pairs(self, texts, tmp_path):
        """An empty one is read as "on the whole"."""
        texts.criteria.update(name="Wit")
        header = ["context_id", "system_a", "system_b", "annotator", "choice", "aspect"]
        rows = [["c1", "elm", "fir", "ann", "A", "Wit"], ["c2", "elm", "fir", "ann", "B", ""]]
        import_judgments(texts, written(tmp_path, "j.xlsx", book([header, *rows], "F2:F3")))
        assert [j.criterion.name for j in PairwiseJudgment.objects.all()] == ["Wit", "Wit"]

    def test_more_merged_cells_than_are_read(self, campaign, tmp_path, monkeypatch):
        monkeypatch.setattr("core.table_rows.MAX_CELLS", 60)
        rows = [["c1", "Q", "elm", "x"], *[["", "Q", "elm", "x"] for _ in range(9)]]
        with pytest.raises(ImportRefused, match="merges more than 60 cells; save it as CSV"):
            import_outputs(campaign, written(tmp_path, "m.xlsx", book([HEADER, *rows], "C2:C11", "D2:D11")))

    def test_errors_and_dates_among_outputs(self, campaign, tmp_path):
        rows = [["c1", "Q1", "elm", "#NAME?"], ["c2", "Q2", "elm", "2026-03-05T00:00:00"], ["c3", "Q3", "elm", "On 5 March."]]
        assumed = import_outputs(campaign, written(tmp_path, "o.csv", table([HEADER, *rows]))).assumed
        assert [said for said in assumed if "Some outputs" in said] == [
            "Some outputs are an error of a spreadsheet, as of a text that begins with =, and are kept as what the system "
            "wrote: '#NAME?' (1).",
            "Some outputs are a date as a spreadsheet keeps it, perhaps in the place of 1/2, and are kept as what the system "
            "wrote: '2026-03-05T00:00:00' (1).",
        ]

    def test_errors_and_empty_texts_of_pairs(self, campaign, tmp_path):
        header = ["context", "system_a", "output_a", "system_b", "output_b", "annotator", "choice"]
        row = ["Q", "elm", "#NAME?", "fir", "", "ann", "A"]
        assumed = import_judgments(campaign, written(tmp_path, "j.csv", table([header, row]))).assumed
        assert "Empty outputs, kept as what the system wrote: 1." in assumed
        assert any(said.endswith("'#NAME?' (1).") for said in assumed)

    def test_names_of_sheets_are_said(self, texts, tmp_path):
        made, out = openpyxl.Workbook(), io.BytesIO()
        for sheet, value in ((made.active, 40), (made.create_sheet("bea"), 60)):
            sheet.append(["context_id", "system", "aspect", "score"])
            sheet.append(["c1", "elm", "Quality", value])
        made.active.title = "ann"
        made.save(out)
        done = import_scores(texts, written(tmp_path, "s.xlsx", out.getvalue()))
        assert [row[3:] for row in scores(texts)] == [("ann", 40), ("bea", 60)]
        assert "No column names the annotator, so that it is called as its sheet is." in done.assumed


class TestColumns:
    def test_invisible_characters_in_the_header(self, campaign, tmp_path):
        """Two marks of UTF-8, as where a file with one was saved with one; and a no-break space."""
        names = ["\ufeff\ufeffcontext_id", "context\u200b", "\u00a0system", "output"]
        import_outputs(campaign, written(tmp_path, "o.csv", table([names, *TEXTS])))
        assert outputs(campaign) == sorted((c, (text,), s, said) for c, text, s, said in TEXTS)

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
    def test_ends_of_lines_inside_of_texts_stay(self, campaign, tmp_path, encoding):
        rows = [["c1", "Q", "elm", "a\r\nb"], ["c2", "R", "elm", "a\nb"]]
        import_outputs(campaign, written(tmp_path, "o.csv", table([HEADER, *rows]).encode(encoding)))
        assert [text for *_, text in outputs(campaign)] == ["a\r\nb", "a\nb"]

    def test_another_column_may_be_it(self, campaign, tmp_path):
        rows = [["1", "cnn", "Question 1", "elm", "Gladly."], ["2", "cnn", "Question 2", "elm", "No."]]
        file = written(tmp_path, "o.csv", table([["context_id", "source", "article", "model", "output"], *rows]))
        said = "The column source is taken for context; article may be it, too."
        assert said in import_outputs(campaign, file, dry_run=True).assumed
        done = import_outputs(campaign, file, columns={"context": "article", "system": "model"})
        assert not [one for one in done.assumed if "may be it" in one] and [row[1] for row in outputs(campaign)] == [
            ("Question 1",),
            ("Question 2",),
        ]

    def test_an_empty_cell_of_a_systems_column_is_listed(self, installation, tmp_path):
        rows = [["id", "prompt", "elm", "fir"], ["c1", "Hi", "Hello", "Oh"], ["c2", "Bye", "So long", ""]]
        file = written(tmp_path, "wide.csv", table(rows))
        campaign = installation.campaign("wide")
        account = installation.through("command", campaign, "outputs", file, systems=["elm", "fir"])
        assert (account["rows"], account["new"]["outputs"], account["left_out"]) == (4, 3, {"has no output": 1})
        assert account["listed"] == [["wide.csv", 3, "has no output"]]

    def test_a_criterion_that_is_called_as_the_column_of_criteria_may_be(self, installation, tmp_path):
        """Quality is another name of that column, too; here it holds the scores."""
        rows = [["context_id", "system", "annotator", "Quality"], ["c1", "alpha", "ann", "4"], ["c1", "beta", "ann", ""]]
        file = written(tmp_path, "wide.csv", table(rows))
        stored, _, account = everywhere(installation, "scores", str(file), scores, on="common.outputs.jsonl")
        assert stored == [("c1", "alpha", "Quality", "ann", 4)] and account["left_out"] == {"has no score": 1}

    def test_the_page_sees_as_much_as_the_command(self, installation, tmp_path):
        """Whose first five rows are of one system, so that these alone do not show that id numbers the rows."""
        rows = [[n, f"Question {n % 9}", s, f"{s} {n}"] for n, s in enumerate(["elm"] * 9 + ["fir"] * 9)]
        file = written(tmp_path, "o.csv", table([["id", "prompt", "system", "output"], *rows]))
        stored, _, account = everywhere(installation, "outputs", str(file), outputs)
        assert account["new"]["contexts"] == 9 and len({row[0] for row in stored}) == 9

    def test_ids_that_number_rows_beyond_the_first(self, campaign, tmp_path):
        """Sorted by system: the first rows are of one system alone, so that nothing shows that id numbers the rows."""
        rows = [[n, f"Question {n % 60}", s, f"{s} {n}"] for n, s in enumerate(["elm"] * 60 + ["fir"] * 60)]
        file = written(tmp_path, "o.csv", table([["id", "prompt", "system", "output"], *rows]))
        said = [one for one in import_outputs(campaign, file, dry_run=True).assumed if "context_ids" in one]
        assert said == [
            "Inputs with one text under several context_ids, where each id has another system's output: 60. The systems do not "
            "meet there. If the ids number the rows, say that no column holds context_id."
        ]
        done = import_outputs(campaign, file, columns={"context_id": "", "context": "prompt"})
        assert done.new["contexts"] == 60 and not [one for one in done.assumed if "context_ids" in one]


@pytest.mark.parametrize(
    "name", ["Fluency (1 = best, 5 = worst)", "Note (1: sehr gut)", "quality, lower is better", "A (0=best)"]
)
def test_scales_whose_name_says_that_the_lowest_is_best(name):
    assert may_be_low(name)


@pytest.mark.parametrize(
    "name", ["Fluency (1 = worst, 5 = best)", "Grade (10 = excellent)", "Depth (0 = none)", "Slower speech"]
)
def test_scales_whose_name_says_that_the_highest_is_best(name):
    assert not may_be_low(name)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_words_of_a_scale_composed_or_not(texts, tmp_path, form):
    """As macOS writes them, ä is two characters."""
    texts.criteria.update(low=1, high=3)
    rows = [[*ABOUT, "scale"], ["c1", "elm", "Quality", "ann", unicodedata.normalize(form, "mäßig"), "schlecht | mäßig | gut"]]
    import_scores(texts, written(tmp_path, "s.csv", table(rows)))
    assert [value for *_, value in scores(texts)] == [2]


@pytest.mark.parametrize(("start", "end"), [(4, 7), (5, 8)])
def test_label_studios_places_after_an_emoji(campaign, tmp_path, start, end):
    """Of "bad" in "👍 A bad day": in characters it begins at 4, and at 5 where the emoji counts as two."""
    data = {"context_id": "c1", "context": "Tea?", "system": "elm", "output": "👍 A bad day"}
    region = {"start": start, "end": end, "text": "bad", "labels": ["Major"]}
    result = {"id": "r", "from_name": "errors", "to_name": "text", "type": "labels", "value": region}
    file = written(
        tmp_path, "ls.json", json.dumps([{"id": 1, "data": data, "annotations": [{"completed_by": 3, "result": [result]}]}])
    )
    import_outputs(campaign, file)
    import_answers(campaign, "spans", file)
    (mark,) = LikertScore.objects.get().detail["spans"]
    assert (mark["start"], mark["end"], mark["text"]) == (4, 7, "bad")


def test_each_tells_nothing_of_a_plain_file(texts, tmp_path):
    assert import_scores(texts, written(tmp_path, "s.csv", scored("40", "50"))).assumed == []
    again = import_file(texts, "outputs", written(tmp_path, "o.csv", table([HEADER, *TEXTS])))
    assert again.assumed == [] and again.repeated == 4

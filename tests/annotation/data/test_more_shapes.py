"""Files of translation campaigns, surveys, doccano, plain texts and Parquet through every door; right values by hand."""

import csv
import gzip
import io
import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from django.db.models import Avg

from annotation.data.importer import import_file, import_outputs
from annotation.data.shapes.registry import shape_of
from annotation.models import Criterion, LikertScore, Output
from core.errors import ImportRefused
from tests.annotation.data.doors import SAMPLES, everywhere, installation, outputs, scores

__all__ = ["installation"]
pytestmark = pytest.mark.django_db

MQM_TED = Path(__file__).parents[4] / "shared" / "data" / "mqm_ted_ende.tsv"
MQM = """system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity
mt1\ttalk\t1\t7\tr1\tGood day.\tGuten <v>Tag,</v>\tFluency/Punctuation\tMinor
mt1\ttalk\t1\t7\tr1\tGood day.\t<v>Guten</v> Tag,\tStyle/Awkward\tMajor
mt1\ttalk\t1\t7\tr2\tGood day.\tGuten Tag,\tNo-error\tNo-error
mt2\ttalk\t1\t7\tr1\t<v>Good day.</v>\t"Oh\tNon-translation!\tMajor
"""


def folder(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, gzip.compress(text.encode()) if name.endswith(".gz") else text)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("category", "severity", "points"),
    [
        ("Fluency/Punctuation", "Minor", 0.1),
        ("Style/Awkward", "minor", 1),
        ("Fluency/Punctuation", "Major", 5),
        ("Non-translation!", "Major", 25),
        ("No-error", "No-error", 0),
        ("Accuracy/Mistranslation", "Neutral", 0),
    ],
)
def test_the_published_weights(installation, tmp_path, category, severity, points):
    """Freitag et al. 2021, table 4."""
    file = tmp_path / "mqm.tsv"
    file.write_text("\n".join([*MQM.splitlines()[:1], f"mt1\ttalk\t1\t7\tr1\tGood day.\tTag\t{category}\t{severity}"]))
    campaign = installation.campaign("talk")
    import_outputs(campaign, file)
    import_file(campaign, "spans", file)
    assert LikertScore.objects.get().value == points


def test_mqm_is_a_sum_of_errors_and_their_places_are_kept(installation, tmp_path):
    """mt1: r1 0.1 + 5, r2 none; mt2: 25."""
    file = tmp_path / "mqm.tsv"
    file.write_text(MQM)
    rows, people, account = everywhere(installation, "spans", file, scores, on=file)
    assert rows == [("talk 7", "mt1", "MQM", "r1", 5.1), ("talk 7", "mt1", "MQM", "r2", 0), ("talk 7", "mt2", "MQM", "r1", 25)]
    texts = {
        o.system.name: (o.context.turns, o.text, o.context.group) for o in Output.objects.select_related("context", "system")
    }
    assert texts == {"mt1": (["Good day."], "Guten Tag,", "talk"), "mt2": (["Good day."], '"Oh', "talk")}
    assert {(c.kind, c.low, c.best) for c in Criterion.objects.filter(name="MQM")} == {("spans", 0, "low")}
    assert account["elsewhere"] == {"outputs": 3}
    kept = LikertScore.objects.filter(value__gt=0, criterion__campaign=LikertScore.objects.first().criterion.campaign)
    assert [[(m["text"], m["where"], m["start"]) for m in row.detail["spans"]] for row in kept.order_by("value")] == [
        [("Guten", "output", 0), ("Tag,", "output", 6)],
        [("Good day.", "source", 0)],
    ]


@pytest.mark.skipif(not MQM_TED.exists(), reason="needs ../shared/data")
def test_wmts_own_file_gives_the_published_scores(installation):
    """Of its first thousand rows, summed here; of the whole file they are WMT 2021's, as the README beside it has them."""
    lines = MQM_TED.read_bytes().splitlines(keepends=True)[:1001]
    sums, segments = Counter(), {}
    for row in csv.DictReader(io.StringIO(b"".join(lines).decode()), delimiter="\t", quoting=csv.QUOTE_NONE):
        punctuation = (row["category"], row["severity"]) == ("Fluency/Punctuation", "Minor")
        sums[row["system"]] += 0.1 if punctuation else {"No-error": 0, "Minor": 1, "Major": 5}[row["severity"]]
        segments.setdefault(row["system"], set()).add((row["doc"], row["seg_id"], row["rater"]))
    campaign = installation.campaign("talk")
    for what in ("outputs", "spans"):
        import_file(campaign, what, io.BytesIO(b"".join(lines)), "mqm.tsv")
    means = LikertScore.objects.values_list("output__system__name").annotate(mean=Avg("value"))
    assert dict(means) == pytest.approx({system: sums[system] / len(known) for system, known in segments.items()})


def test_an_unknown_severity_is_an_error_with_its_line(installation, tmp_path):
    file = tmp_path / "mqm.tsv"
    file.write_text(MQM.replace("Style/Awkward\tMajor", "Style/Awkward\tHuge"))
    with pytest.raises(ImportRefused, match='mqm.tsv, line 3, field .severity.: expected .*, found "Huge"'):
        import_file(installation.campaign("talk"), "outputs", file)
    assert not Output.objects.exists()


def test_appraises_scores_have_no_header(installation, tmp_path):
    """user, system, item, type, source, target, score, document, whole document, spans, start, end."""
    lines = [
        "eng0a,alpha,c1,TGT,eng,deu,80,doc#1,False,[],1,2",
        'eng0a,beta,c1,TGT,eng,deu,64,doc#1,False,"[{""start_i"": 0}]",1,2',
        "eng0a,beta,c2,BAD,eng,deu,3,doc#1,False,[],1,2",
        "eng0a,alpha,c1,CHK,eng,deu,70,doc#1,False,[],1,2",
        "eng0a,alpha,c2,TGT,eng,deu,77,doc#1,True,[],1,2",
    ]
    file = tmp_path / "scores.csv"
    file.write_text("\n".join(lines))
    rows, _, account = everywhere(installation, "scores", file, scores, on="common.outputs.jsonl")
    assert rows == [("c1", "alpha", "ESA", "eng0a", 80), ("c1", "beta", "ESA", "eng0a", 64)]
    assert account["left_out"] == {
        "is a quality control (BAD): a worsened output": 1,
        "is a quality control (CHK): a repeated output": 1,
        "is a score of a whole document": 1,
    }


def test_qualtrics_has_three_rows_above_its_answers(installation, tmp_path):
    lines = [
        "StartDate,ResponseId,Status,PROLIFIC_PID,c1__alpha__Quality,c1__beta__Quality,comment",
        'Start Date,Response ID,Response Type,PROLIFIC_PID,"How good?","How good?",Why?',
        '"{""ImportId"":""startDate""}","{""ImportId"":""_recordId""}",{},{},{},{},{}',
        "2026-01-01,R_1,IP Address,p1,5,3 - so so,fine",
        "2026-01-01,R_2,IP Address,p2,4,,",
        "2026-01-01,R_3,Survey Preview,me,1,1,",
        "2026-01-01,R_4,Survey Test,,1,1,",
        "2026-01-01,R_5,256,,2,,",
    ]
    file = tmp_path / "survey.csv"
    file.write_text("\n".join(lines))
    rows, people, account = everywhere(installation, "scores", file, scores, on="common.outputs.jsonl")
    assert rows == [
        ("c1", "alpha", "Quality", "p1", 5),
        ("c1", "alpha", "Quality", "p2", 4),
        ("c1", "beta", "Quality", "p1", 3),
    ]
    assert set(people) == {"p1", "p2"} and account["left_out"] == {
        "is a preview, a test, spam or synthetic, as Qualtrics marks it": 5
    }


def test_a_wide_sheet(installation, tmp_path):
    file = tmp_path / "wide.csv"
    file.write_text("annotator;c1|alpha;c1|beta;c2|alpha;c2|beta\nann;5;3;4;\nbob;4;2;;1\n")
    rows, _, _ = everywhere(installation, "scores", file, scores, on="common.outputs.jsonl", constants={"aspect": "Quality"})
    assert [row[:2] + row[3:] for row in rows] == [
        ("c1", "alpha", "ann", 5),
        ("c1", "alpha", "bob", 4),
        ("c1", "beta", "ann", 3),
        ("c1", "beta", "bob", 2),
        ("c2", "alpha", "ann", 4),
        ("c2", "beta", "bob", 1),
    ]


def test_a_list_of_prolifics_participants_holds_no_answers(installation, tmp_path):
    file = tmp_path / "prolific.csv"
    file.write_text("Submission id,Participant id,Status\ns1,p1,APPROVED\n")
    with pytest.raises(ImportRefused, match="is a file of Prolific participants and holds no scores"):
        import_file(installation.campaign("talk"), "scores", file)


def test_doccano(installation, tmp_path):
    """A file for each member, in a zip: points by label, a criterion before a colon, spans and two labels left out."""
    about = {"context_id": "c1", "Comments": []}
    ann = [about | {"id": 1, "system": "alpha", "text": "x", "label": ["4 - good"]}]
    ann += [about | {"id": 2, "system": "beta", "text": "y", "label": ["Quality: 2", [0, 1, "bad"]]}]
    bob = [about | {"id": 1, "system": "alpha", "text": "x", "label": ["1", "2"]}]
    lines = lambda rows: "".join(json.dumps(row) + "\n" for row in rows)
    file = tmp_path / "doccano.zip"
    file.write_bytes(folder({"ann.jsonl": lines(ann), "bob.jsonl": lines(bob)}))
    rows, _, account = everywhere(
        installation, "scores", file, scores, criterion=("label", 1, 5), on="common.outputs.jsonl", constants={"scale": "1-5"}
    )
    assert rows == [("c1", "alpha", "label", "ann", 4), ("c1", "beta", "Quality", "ann", 2)]
    assert account["left_out"] == {"marks a part of a text": 1, "names more than one point of label": 1}


BY_LINE = {"source.txt": "Q1\nQ2\n", "reference.txt": "R1\nR2\n", "alpha.txt": "a1\na2\n", "beta.txt.gz": "b1\n\n"}
BY_FILE = {f"talk/{folder}/{item}.txt": f"{folder} {item}\nmore" for folder in ("source", "alpha", "beta") for item in "xy"}


def test_texts_by_line(installation, tmp_path):
    file = tmp_path / "talk.zip"
    file.write_bytes(folder(BY_LINE))
    rows, _, account = everywhere(installation, "outputs", file, outputs)
    assert rows == [
        ("1", ("Q1",), "alpha", "a1"),
        ("1", ("Q1",), "beta", "b1"),
        ("2", ("Q2",), "alpha", "a2"),
        ("2", ("Q2",), "beta", ""),
    ]
    assert account["new"]["references"] == 2


def test_texts_by_file_name(installation, tmp_path):
    file = tmp_path / "talk.zip"
    file.write_bytes(folder(BY_FILE))
    rows, _, _ = everywhere(installation, "outputs", file, outputs)
    assert rows == [
        (item, (f"source {item}\nmore",), system, f"{system} {item}\nmore") for item in "xy" for system in ("alpha", "beta")
    ]


def test_a_text_with_fewer_lines_than_the_inputs_is_refused(installation, tmp_path):
    file = tmp_path / "talk.zip"
    file.write_bytes(folder(BY_LINE | {"alpha.txt": "a1\n"}))
    with pytest.raises(ImportRefused, match="talk.zip/alpha.txt: has 1 lines; the inputs have 2"):
        import_outputs(installation.campaign("talk"), file)
    assert not Output.objects.exists()


def test_one_text_of_a_system_for_contexts_that_are_there(installation, tmp_path):
    first = tmp_path / "talk.zip"
    first.write_bytes(folder(BY_LINE))
    file = tmp_path / "gamma.txt"
    file.write_text("g1\ng2\n")
    rows, _, _ = everywhere(installation, "outputs", file, outputs, on=first, system="gamma")
    assert [row[2:] for row in rows if row[2] == "gamma"] == [("gamma", "g1"), ("gamma", "g2")]


@pytest.mark.parametrize("packed", [False, True])
def test_parquet(installation, tmp_path, packed):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [
        {"context": ["Hi", "there"], "system": "alpha", "output": "x", "n": float("nan")},
        {"context": ["Yo"], "system": "b", "output": "y", "n": 1.0},
    ]
    plain = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), plain)
    file = plain
    if packed:
        file = tmp_path / "rows.parquet.gz"
        file.write_bytes(gzip.compress(plain.read_bytes()))
    stored, _, _ = everywhere(installation, "outputs", file, outputs)
    assert sorted(row[1:] for row in stored) == [(("Hi", "there"), "alpha", "x"), (("Yo",), "b", "y")]


@pytest.mark.parametrize("name", ["sheets.xlsx.gz", "talk.zip.gz"])
def test_gzip_of_any(installation, tmp_path, name):
    plain = SAMPLES / "17c_one_sheet_per_annotator.scores.xlsx"
    file = tmp_path / name
    file.write_bytes(
        gzip.compress(
            plain.read_bytes()
            if "xlsx" in name
            else folder({"s.csv": "context_id,system,aspect,annotator,score\nc1,alpha,Quality,w1,4\n"})
        )
    )
    rows, _, _ = everywhere(installation, "scores", file, scores, on="common.outputs.jsonl")
    assert rows[0][-2:] == ("w1", 4)


def _checkpoints(folder):
    path = folder / "lstm.jsonl"
    path.write_text(json.dumps({"context_id": "c1", "system": "lstm", "output": "x", "checkpoint": "s1"}))
    return path


def test_votes_that_name_outputs_which_are_there(installation, tmp_path):
    """As arenas keep them: context_id and systems, without texts."""
    campaign = installation.campaign("talk", outputs="common.outputs.jsonl")
    file = tmp_path / "votes.jsonl"
    vote = {"context_id": "c1", "system_a": "alpha", "system_b": "beta", "annotator": "ann", "choice": "A"}
    file.write_text(json.dumps(vote))
    assert import_file(campaign, "judgments", file).new["judgments"] == 1
    import_file(campaign, "outputs", _checkpoints(tmp_path))
    for wrong, sentence in (
        (
            {"system_b": "lstm"},
            r"'lstm' has no output for context_id 'c1' \(without a checkpoint\); there are: checkpoint 's1'",
        ),
        ({"context_id": "c9"}, "field 'context': is missing, and context_id 'c9' is no context of this campaign"),
        ({"system_b": "new"}, "field 'output_b': is missing, and system 'new' has no output for context_id 'c1'"),
    ):
        file.write_text(json.dumps(vote | wrong))
        with pytest.raises(ImportRefused, match=sentence):
            import_file(campaign, "judgments", file)


def test_a_column_with_a_bar_in_its_name_makes_no_wide_sheet():
    assert shape_of("scores", {"system": "a", "pros|cons": "x", "score": 1}) is None
    assert not LikertScore.objects.exists()

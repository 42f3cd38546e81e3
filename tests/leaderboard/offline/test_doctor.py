"""`comparena doctor`: what a file is, what would be stored, what could be computed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from leaderboard.offline.answers import How, read
from leaderboard.offline.commands import main
from leaderboard.offline.file_account import account

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("django", "django.db", "torch", "transformers")


def told(capsys, file: Path) -> dict:
    assert main(["doctor", str(file), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def jsonl(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


VOTE = {
    "context_id": "c1",
    "context": "Q",
    "system_a": "m1",
    "output_a": "x",
    "system_b": "m2",
    "output_b": "y",
    "annotator": "w",
    "choice": "A",
}


def test_a_table_of_votes(tmp_path, capsys):
    found = told(capsys, jsonl(tmp_path / "votes.jsonl", [VOTE, VOTE | {"context_id": "c2", "choice": ""}]))
    assert found["holds"] == {"outputs": 4, "people's judgments of pairs": 2} and found["systems"] == ["m1", "m2"]
    commands = [one["command"] for one in found["can"]]
    assert "comparena gate m1 m2 --judgments votes.jsonl --margin 0.05" in commands
    assert "comparena import_judgments CAMPAIGN votes.jsonl" in commands


def test_a_tools_file_is_named_with_its_documentation(tmp_path, capsys):
    game = {"uid": "1", "judge": "gpt", "model": "m1", "baseline": "m0", "games": [{"score": "A>B"}, {"score": "B>A"}]}
    found = told(capsys, jsonl(tmp_path / "judgments.jsonl", [game]))
    assert found["read_as"] == "Arena-Hard judgments" and found["documentation"].startswith("https://")
    assert found["holds"] == {"a judge's answers about pairs": 1}
    assert any("check_judge judgments.jsonl --people LABELS" in one["command"] for one in found["can"])


@pytest.mark.parametrize(
    ("who", "doubt"), [({"judge": "anna"}, "The column judge"), ({"annotator": "gpt-4o"}, "gpt-4o are models")]
)
def test_who_may_be_a_program_is_not_called_a_person(tmp_path, capsys, who, doubt):
    vote = {name: value for name, value in VOTE.items() if name != "annotator"} | who
    found = told(capsys, jsonl(tmp_path / "votes.jsonl", [vote]))
    assert found["holds"] == {"outputs": 2, "judgments of pairs, by people or by judges": 1}
    assert any(doubt in sentence for sentence in found["assumed"])
    assert "comparena import_judge_scores CAMPAIGN votes.jsonl --pairs" in [one["command"] for one in found["can"]]


def test_a_metrics_scores_are_a_judges(tmp_path, capsys):
    row = {"context_id": "c1", "context": "Q", "system": "m", "output": "o", "metric": "bleu", "score": 0.5}
    assert told(capsys, jsonl(tmp_path / "a.jsonl", [row]))["holds"] == {"outputs": 1, "a judge's scores": 1}


def test_a_title_is_left_out_once(tmp_path, capsys):
    header, cells = ",".join(VOTE), ",".join(VOTE.values())
    (tmp_path / "votes.csv").write_text(f"Study 1\n{header}\n{cells}\n")
    found = told(capsys, tmp_path / "votes.csv")
    assert found["left_out"] == {"is a title above the header": 1} and found["holds"]["outputs"] == 2


def test_verdicts_of_a_judge_and_of_people_in_one_table(tmp_path, capsys):
    rows = ["id,judge_passed,human_passed,response_tokens"] + [
        f"q{i},pass,{'fail' if i < 4 else ''},{i * 37}" for i in range(40)
    ]
    (tmp_path / "results.csv").write_text("\n".join(rows) + "\n")
    found = told(capsys, tmp_path / "results.csv")
    kinds = {one["name"]: (one["kind"], one["present"]) for one in found["columns"]}
    assert kinds["judge_passed"] == ("verdict", 40) and kinds["human_passed"] == ("verdict", 4)
    assert kinds["response_tokens"] == ("number", 40)
    wanted = "comparena check_judge results.csv --judge judge_passed --people results.csv --label human_passed"
    assert wanted in [one["command"] for one in found["can"]]


# {file: (its document or lines, what it is read as, what it holds)}: what the doctor of truescore 0.7.4 (PyPI, adapters.py and
# io.py) reads, it reads; both were run on these files.
TRUESCORE_READS = {
    "deepeval.json": (
        {"testCases": [{"input": "Q", "actualOutput": "A", "metricsData": [{"name": "Tone", "score": 0.5, "success": True}]}]},
        "DeepEval test cases",
        {"outputs": 1, "a judge's scores": 1},
    ),
    "verdicts.json": (
        {"testCases": [{"input": "Q", "actualOutput": "A", "success": True}]},
        "DeepEval test cases",
        {"outputs": 1, "a judge's scores": 1},
    ),
    "cut_off.jsonl": (
        [{"doc_id": n, "filtered_resps": [f"A {n}"], "metrics": ["acc"], "acc": 0.0} for n in range(3)],
        "lm-evaluation-harness samples",
        {"outputs": 3, "a judge's scores": 3},
    ),
    "errors.json": (
        {"eval": {"model": "m"}, "samples": [{"id": 1, "input": "Q", "scores": {"match": {"value": "I"}}}]},
        "Inspect log",
        {"outputs": 0, "a judge's scores": 0},  # both are left out, and said to be
    ),
    "lines.ndjson": (
        [{"promptIdx": 0, "testIdx": 0, "success": True, "provider": "m", "prompt": "Q", "response": {"output": "A"}}],
        "promptfoo results (JSONL)",
        {"outputs": 1, "a judge's scores": 1},
    ),
    "second_version.json": (
        {
            "version": 2,
            "results": [
                {"testIdx": 0, "score": 1, "testCase": {"vars": {"q": "Q"}}, "provider": "m", "response": {"output": "A"}}
            ],
        },
        "promptfoo results",
        {"outputs": 1, "a judge's scores": 1},
    ),
}


@pytest.mark.parametrize("name", TRUESCORE_READS)
def test_what_truescore_reads(tmp_path, capsys, name):
    document, shape, holds = TRUESCORE_READS[name]
    rows = document if isinstance(document, list) else [document]
    found = told(capsys, jsonl(tmp_path / name, rows))
    assert (found["read_as"], found["holds"], found["errors"]) == (shape, holds, [])
    assert sum(holds.values()) or sum(found["left_out"].values()) == 2


def test_a_verdict_in_an_object_is_a_column(tmp_path, capsys):
    """As truescore names it, by the names on the way with dots between"""
    rows = [
        {"id": n, "by": {"judge": {"pass": n % 3 > 0}}, "human": {"pass": n % 4 > 0 if n < 20 else None}} for n in range(40)
    ]
    file = jsonl(tmp_path / "log.jsonl", rows)
    found = told(capsys, file)
    command = "comparena check_judge log.jsonl --judge by.judge.pass --people log.jsonl --label human.pass"
    assert [one["command"] for one in found["can"]] == [command]
    said = ["check_judge", str(file), "--judge", "by.judge.pass", "--people", str(file), "--label", "human.pass", "--json"]
    assert main(said) == 0
    answer = json.loads(capsys.readouterr().out)
    (row,) = answer["judges"][0]["systems"]
    assert (row["judge"], row["people"]["value"]) == (26 / 40, 15 / 20)


def test_of_many_errors_none_speaks_of_an_import(tmp_path, capsys):
    (tmp_path / "file.jsonl").write_text("{\n[\n")
    assert main(["gate", "a", "b", "--judgments", str(tmp_path / "file.jsonl"), "--margin", "0.1"]) == 3
    said = capsys.readouterr().err
    assert "(and 1 more error)" in said and "imported" not in said


def test_what_is_wrong_is_said(tmp_path, capsys):
    found = told(capsys, jsonl(tmp_path / "votes.jsonl", [VOTE, VOTE | {"choice": "perhaps"}]))
    assert any("votes.jsonl, line 2, field 'choice'" in error for error in found["errors"])


@pytest.mark.parametrize(("content", "expected"), [(b"", "is empty"), (b"\xff\xfe\xff", "doctor:"), (b"{", "doctor:")])
def test_what_cannot_be_read_is_one_sentence(tmp_path, capsys, content, expected):
    (tmp_path / "file.jsonl").write_bytes(content)
    assert main(["doctor", str(tmp_path / "file.jsonl")]) == 3
    said = capsys.readouterr()
    assert expected in said.err and "Traceback" not in said.err


def test_a_reader_that_stops_reading_changes_no_exit_code(tmp_path):
    file = jsonl(tmp_path / "votes.jsonl", [VOTE])
    piped = f'"{sys.executable}" manage.py doctor "{file}" | true; echo ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", piped], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.stderr) == ("0", "")


def test_text_and_no_database(tmp_path):
    file = jsonl(tmp_path / "votes.jsonl", [VOTE])
    code = (
        f"import sys; from comparena.command import main\nsys.argv = ['comparena', 'doctor', {str(file)!r}]\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert ended.code == 0, ended.code\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "[]" and "What could be computed:" in done.stdout, done.stdout + done.stderr


MQM = """system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity
mt1\ttalk\t1\t7\tr1\tGood day.\tGuten <v>Tag,</v>\tFluency/Punctuation\tMinor
mt1\ttalk\t1\t7\tr1\tGood day.\t<v>Guten</v> Tag,\tStyle/Awkward\tMajor
mt2\ttalk\t1\t7\tr1\tGood day.\tGuten Tag.\tNo-error\tNo-error
"""


def test_marked_errors_are_their_weights(tmp_path):
    """mt1: minor punctuation 0.1 and major 5 (Freitag et al. 2021, table 4); mt2: none."""
    file = tmp_path / "mqm.tsv"
    file.write_text(MQM)
    said = account(file)
    assert said["holds"] == {"outputs": 2, "people's marked errors": 2} and said["errors"] == []
    assert [(one.output.system, one.value, one.best) for one in read(file, How()).scores] == [
        ("mt1", 5.1, "low"),
        ("mt2", 0, "low"),
    ]

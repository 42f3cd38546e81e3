"""`comparena doctor`: what a file is, what would be stored, what could be computed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from leaderboard.offline.commands import main

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

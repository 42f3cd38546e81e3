"""`comparena gate`: a verdict from a file, its exit code, and what it says of the file."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from core.errors import Refused
from leaderboard.noninferiority.confidence_sequence import empirical_bernstein
from leaderboard.noninferiority.verdict import verdict
from leaderboard.offline import answers
from leaderboard.offline.commands import main
from leaderboard.offline.gate import gate

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("django", "django.db", "rest_framework", "celery", "torch", "transformers", "pandas")


def rows_of(wins: int, ties: int, losses: int, **more) -> list[dict]:
    choices = ["A"] * wins + ["tie"] * ties + ["B"] * losses
    return [
        {
            "context_id": f"c{i:03}",
            "context": f"question {i}",
            "system_a": "v2",
            "output_a": "x",
            "system_b": "v1",
            "output_b": "y",
            "annotator": f"r{i % 3}",
            "choice": choice,
            **more,
        }
        for i, choice in enumerate(choices)
    ]


def written(tmp_path: Path, rows: list[dict], name: str = "judgments.jsonl") -> str:
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def told(capsys, *words: str) -> tuple[int, dict]:
    code = main(["gate", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("counts", "word", "code"), [((400, 0, 0), "PASS", 0), ((0, 0, 400), "FAIL", 1), ((5, 0, 5), "INCONCLUSIVE", 2)]
)
def test_each_verdict_has_its_exit_code(tmp_path, capsys, counts, word, code):
    found, said = told(capsys, "v2", "v1", "--judgments", written(tmp_path, rows_of(*counts)), "--margin", "0.1")
    assert (found, said["exit_code"], said["verdict"]) == (code, code, word)
    assert (said["wins"], said["ties"], said["losses"], said["units"]) == (*counts, sum(counts))
    assert said["sentence"].startswith(word)


def test_it_is_the_verdict_of_the_pure_room(tmp_path, capsys):
    file = written(tmp_path, rows_of(30, 20, 10))
    _, said = told(capsys, "v2", "v1", "--judgments", file, "--margin", "0.1")
    points = [1] * 30 + [0] * 20 + [-1] * 10
    expected = verdict(points, range(60), 0.1)
    assert {name: said[name] for name in ("gain", "low", "high", "units", "judgments", "confidence", "margin")} == {
        name: getattr(expected, name) for name in ("gain", "low", "high", "units", "judgments", "confidence", "margin")
    }


def test_its_confidence_is_written_as_it_is():
    assert "99.9% interval" in verdict([1, 0], [0, 1], 0.1, 0.999).sentence("v2", "v1")
    assert "95% interval" in verdict([1, 0], [0, 1], 0.1).sentence("v2", "v1")


def test_asked_the_other_way_round_it_turns(tmp_path, capsys):
    file = written(tmp_path, rows_of(30, 20, 10))
    _, one = told(capsys, "v2", "v1", "--judgments", file, "--margin", "0.1")
    _, other = told(capsys, "v1", "v2", "--judgments", file, "--margin", "0.1")
    assert (other["gain"], other["wins"], other["losses"]) == (-one["gain"], one["losses"], one["wins"])
    assert other["low"] == pytest.approx(-one["high"]) and other["high"] == pytest.approx(-one["low"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["v3", "v1", "--margin", "0.1"], "'v3' is no system in judgments.jsonl; there are: 'v1', 'v2'."),
        (["v2", "V2", "--margin", "0.1"], "NEW and OLD are both 'v2'; a gate compares two systems."),
        (["v2", "v1", "--margin", "1"], "--margin 1: the margin lies from 0 to below 1."),
        (["v2", "v1", "--margin", "nan"], "--margin nan: the margin lies from 0 to below 1."),
        (["v2", "v1", "--margin", "0.1", "--confidence", "1"], "--confidence 1: the confidence lies between 0 and 1."),
        (["v2", "v1", "--margin", "0.1", "--judge", "x"], "'x' judged nothing of this in judgments.jsonl"),
        (["v2", "v1", "--margin", "0.1", "--criterion", "x"], "judgments.jsonl has no answers on 'x'"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(tmp_path, capsys, words, expected):
    file = written(tmp_path, rows_of(2, 1, 1))
    assert main(["gate", *words, "--judgments", file]) == 3
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"comparena gate: {expected}") and said.err.count("\n") == 1


def test_a_wrong_row_is_named_by_file_line_and_field(tmp_path, capsys):
    rows = rows_of(2, 1, 1)
    rows[2]["choice"] = "perhaps"
    code, said = told(capsys, "v2", "v1", "--judgments", written(tmp_path, rows), "--margin", "0.1")
    assert (code, said["file"], said["line"], said["field"]) == (3, "judgments.jsonl", 3, "choice")
    assert '"perhaps"' in said["error"]


def test_a_missing_option_is_no_verdict(tmp_path):
    with pytest.raises(SystemExit) as ended:
        main(["gate", "v2", "v1"])
    assert ended.value.code == 3


def test_a_fault_of_ours_is_no_verdict(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("leaderboard.offline.gate.verdict", lambda *args: 1 / 0)
    assert main(["gate", "v2", "v1", "--judgments", written(tmp_path, rows_of(1, 1, 1)), "--margin", "0.1"]) == 4
    assert "a fault of the program" in capsys.readouterr().err


def test_what_is_left_out_is_counted(tmp_path, capsys):
    rows = rows_of(3, 0, 0)
    rows[0]["choice"], rows[1]["choice"] = "", "cannot say"
    _, said = told(capsys, "v2", "v1", "--judgments", written(tmp_path, rows), "--margin", "0.1")
    assert (said["judgments"], said["read"], said["left_out"]) == (1, 3, {"has no choice": 1, "says that it cannot say": 1})


def test_times_say_the_order_where_all_rows_have_one(tmp_path):
    rows = rows_of(40, 20, 30)
    for i, row in enumerate(rows):
        row["answered_at"] = f"2026-01-{1 + i // 24:02}T{i % 24:02}:00:00+00:00"
    file = written(tmp_path, rows)
    shuffled = written(tmp_path, rows[::-1], "shuffled.jsonl")
    one, other = (gate(answers.read(path), "v2", "v1", 0.1) for path in (file, shuffled))
    assert one.ordered_by == other.ordered_by == "answered_at" and one.verdict == other.verdict
    del rows[0]["answered_at"]
    assert gate(answers.read(written(tmp_path, rows)), "v2", "v1", 0.1).ordered_by == "file"


def test_other_names_of_the_systems_change_no_digit(tmp_path):
    rows = rows_of(40, 20, 30, answered_at="2026-01-01T00:00:00+00:00")
    other = [row | {"system_a": "a new name", "system_b": "zz"} for row in rows]
    first = gate(answers.read(written(tmp_path, rows)), "v2", "v1", 0.1)
    assert gate(answers.read(written(tmp_path, other)), "a new name", "zz", 0.1).verdict == first.verdict


def test_scores_are_compared_within_a_person_and_a_context(tmp_path):
    rows = [
        {"context_id": f"c{i}", "system": system, "aspect": "Rank", "annotator": who, "score": score, "best": "low"}
        for i in range(4)
        for who, (new, old) in {"a": (1, 2), "b": (2, 2)}.items()
        for system, score in (("v2", new), ("v1", old))
    ]
    found = gate(answers.read(written(tmp_path, rows)), "v2", "v1", 0.1)
    assert (found.verdict.wins, found.verdict.ties, found.verdict.losses, found.verdict.gain) == (4, 4, 0, 0.5)
    assert any("Scores are compared" in sentence for sentence in found.assumed)


def test_a_group_is_one_unit(tmp_path):
    found = gate(answers.read(written(tmp_path, rows_of(4, 0, 4, group="all"))), "v2", "v1", 0.1)
    assert found.verdict.units == 1 and found.grouped


def test_a_side_that_never_changed_and_simulated_answers_are_warned_of(tmp_path):
    found = gate(answers.read(written(tmp_path, rows_of(2, 0, 1, simulated="TRUE"))), "v2", "v1", 0.1)
    assert found.warnings[0] == "3 of 3 judgments are simulated: a program made them."
    assert "stood first in every judgment" in found.warnings[1]
    rows = rows_of(2, 0, 1)
    rows[0]["shown_left"] = "B"
    assert gate(answers.read(written(tmp_path, rows)), "v2", "v1", 0.1).warnings == []


def test_people_count_where_a_file_has_programs_too(tmp_path):
    """MT-bench's shape: a judge that is a list is a program."""
    chats = [[{"role": "user", "content": "Q"}, {"role": "assistant", "content": text}] for text in ("x", "y")]
    vote = {
        "question_id": 1,
        "model_a": "v2",
        "model_b": "v1",
        "conversation_a": chats[0],
        "conversation_b": chats[1],
        "turn": 1,
    }
    rows = [vote | {"judge": "expert_0", "winner": "model_a"}, vote | {"judge": ["gpt-4", "pair"], "winner": "model_b"}]
    file = written(tmp_path, rows)
    people, program = gate(answers.read(file), "v2", "v1", 0.1), gate(answers.read(file), "v2", "v1", 0.1, judge="gpt-4 pair")
    assert (people.verdict.gain, people.by_people, people.judges) == (1.0, True, ["expert_0"])
    assert (program.verdict.gain, program.by_people, program.judges) == (-1.0, False, ["gpt-4 pair"])


def test_a_checkpoint_is_named(tmp_path):
    rows = [row | {"system_b": "v2", "checkpoint_a": "700", "checkpoint_b": "600"} for row in rows_of(3, 0, 0)]
    read = answers.read(written(tmp_path, rows))
    assert gate(read, "v2@700", "v2@600", 0.1).verdict.wins == 3
    with pytest.raises(Refused, match="v2@600, v2@700"):
        gate(read, "v2", "v2@600", 0.1)


def test_files_of_programs(tmp_path):
    sides = {"output_1": "A", "generator_1": "v2", "output_2": "B", "generator_2": "v1"}
    annotation = sides | {"instruction": "Q", "annotator": "m"}
    (tmp_path / "annotations.json").write_text(json.dumps([annotation | {"preference": 1.25}]), encoding="utf-8")
    found = gate(answers.read(tmp_path / "annotations.json"), "v2", "v1", 0.1)
    assert found.verdict.gain == pytest.approx(0.5)  # 0.75 less 0.25
    arena_hard = {"uid": "1", "judge": "m", "model": "v2", "baseline": "v1", "games": [{"score": "B>A"}, {"score": "A=B"}]}
    found = gate(answers.read(written(tmp_path, [arena_hard])), "v2", "v1", 0.1)
    assert (found.verdict.gain, found.warnings) == (0.5, [])
    chat = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
    with pytest.raises(Refused, match="holds no answers about systems"):
        answers.read(written(tmp_path, [{"messages": chat}]))


def test_it_loads_neither_django_nor_torch(tmp_path):
    file = written(tmp_path, rows_of(3, 1, 0))
    code = (
        "import sys; from comparena.command import main\n"
        f"sys.argv = ['comparena', 'gate', 'v2', 'v1', '--judgments', {file!r}, '--margin', '0.1']\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert ended.code == 2, ended.code\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_an_unchanged_system_seldom_fails_in_twenty_looks():
    """A judgment a context: 200 runs (docs/results/gate.md has 10,000). At most 5% may fail, and two standard errors (1.5%)."""
    rng, failed = np.random.default_rng(3), 0
    for run in range(200):
        points = rng.choice([1, 0, -1], 400, p=[0.4, 0.2, 0.4])
        _, highs = empirical_bernstein((points + 1) / 2, 0.05)
        if run == 0:
            assert verdict(points[:200], range(200), 0.0).high == pytest.approx(2 * highs[199] - 1)
        failed += bool((highs[19::20] < 0.5).any())
    assert failed / 200 <= 0.05 + 2 * 0.0154


def test_old_contexts_that_get_judgments_later_fail_it_no_oftener():
    """Three a context, in any order, gains that differ between contexts: 100 runs, so two standard errors are 4.4%."""
    rng, failed = np.random.default_rng(4), 0
    for _ in range(100):
        context = np.repeat(np.arange(40), 3)[rng.permutation(120)]
        win, u = 0.4 + rng.uniform(-0.25, 0.25, 40)[context], rng.random(120)
        points = np.where(u < win, 1, np.where(u < win + 0.2, 0, -1))
        failed += any(verdict(points[:end], context[:end], 0.0).word == "FAIL" for end in range(30, 121, 30))
    assert failed / 100 <= 0.05 + 0.044


@pytest.fixture
def command(tmp_path) -> dict[str, str]:
    """An environment in which `comparena` and `python` are this checkout's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "comparena").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT}/manage.py" "$@"\n')
    (folder / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for file in folder.iterdir():
        file.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}  # of these tests
    return kept | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_the_pytest_example_of_the_page(tmp_path, command):
    page = (ROOT / "docs/gate.md").read_text(encoding="utf-8")
    example = page.partition("## In pytest\n\n")[2].partition("\n## ")[0]
    (tmp_path / "test_example.py").write_text(re.sub(r"^    ", "", example, flags=re.MULTILINE), encoding="utf-8")
    assert len([line for line in example.splitlines() if line.strip()]) <= 5
    for counts, code in (((400, 0, 0), 0), ((0, 0, 400), 1)):
        written(tmp_path, rows_of(*counts))
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "test_example.py"]
        done = subprocess.run(words, cwd=tmp_path, env=command, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="the action runs in bash")
@pytest.mark.parametrize(
    ("counts", "strict", "code", "word"),
    [
        ((400, 0, 0), "false", 0, "PASS"),
        ((0, 0, 400), "false", 1, "FAIL"),
        ((1, 0, 1), "false", 0, "INCONCLUSIVE"),
        ((1, 0, 1), "true", 2, "INCONCLUSIVE"),
        (None, "false", 3, "ERROR"),
    ],
)
def test_the_actions_step(tmp_path, command, counts, strict, code, word):
    """All of the action but the installation of its packages."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "gate")
    judgments = written(tmp_path, rows_of(*counts)) if counts else "no such file"
    given = {"NEW": "v2", "OLD": "v1", "JUDGMENTS": judgments, "MARGIN": "0.1", "OPTIONS": "", "FAIL_ON_INCONCLUSIVE": strict}
    assert set(step["env"]) == set(given)
    assert {name.replace("-", "_").upper() for name in action["inputs"]} == set(given)
    files = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    environment = command | given | files | {"GITHUB_ACTION_PATH": str(ROOT)}
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]  # as GitHub's runner starts bash
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    outputs = dict(line.split("=", 1) for line in Path(files["GITHUB_OUTPUT"]).read_text().splitlines())
    assert outputs["verdict"] == word and json.loads(outputs["json"])["exit_code"] == (code or (0 if word == "PASS" else 2))
    assert (word if counts else "") in Path(files["GITHUB_STEP_SUMMARY"]).read_text()


def scored(low_is_better: bool, **more) -> list[dict]:
    """v2 makes one error a text, v1 three."""
    values = (1, 3) if low_is_better else (3, 1)
    return [
        {"context_id": f"c{i}", "system": system, "aspect": "Errors made", "annotator": "p", "score": score, **more}
        for i in range(200)
        for system, score in zip(("v2", "v1"), values)
    ]


def test_which_end_is_best_is_asked_as_an_import_asks(tmp_path, capsys):
    file = written(tmp_path, scored(low_is_better=True))
    code, said = told(capsys, "v2", "v1", "--judgments", file, "--margin", "0.1")
    assert code == 3 and said["field"] == "best" and "'Errors made'" in said["error"]
    code, said = told(capsys, "v2", "v1", "--judgments", file, "--margin", "0.1", "--best", "low")
    assert (code, said["wins"], said["losses"]) == (0, 200, 0)


def test_one_row_says_which_end_is_best_for_all(tmp_path, capsys):
    rows = scored(low_is_better=True)
    rows[-1]["best"] = "low"
    code, said = told(capsys, "v2", "v1", "--judgments", written(tmp_path, rows), "--margin", "0.1")
    assert (code, said["wins"]) == (0, 200)
    rows[0]["best"] = "high"
    assert told(capsys, "v2", "v1", "--judgments", written(tmp_path, rows), "--margin", "0.1")[0] == 3


def test_known_answers_are_no_judgments(tmp_path, capsys):
    practice = [row | {"context_id": f"k{i}"} for i, row in enumerate(rows_of(0, 0, 30, purpose="training", expected="B"))]
    found, said = told(capsys, "v2", "v1", "--judgments", written(tmp_path, rows_of(9, 0, 0) + practice), "--margin", "0.1")
    assert (said["wins"], said["losses"], sum(said["left_out"].values())) == (9, 0, 30)


def test_a_person_counts_once_and_does_not_contradict_themself(tmp_path, capsys):
    rows = rows_of(3, 0, 2)
    turned = {"system_a": "v1", "output_a": "y", "system_b": "v2", "output_b": "x"}
    again = [row | turned | {"choice": {"A": "B", "B": "A"}[row["choice"]]} for row in rows]
    code, said = told(capsys, "v2", "v1", "--judgments", written(tmp_path, rows + again), "--margin", "0.1")
    assert (said["wins"], said["losses"]) == (3, 2) and any("5 answers are there twice" in note for note in said["assumed"])
    code, said = told(
        capsys, "v2", "v1", "--judgments", written(tmp_path, rows + [rows[0] | {"choice": "B"}]), "--margin", "0.1"
    )
    assert code == 3 and said["line"] == 6
    nameless = [{name: row[name] for name in row if name != "annotator"} for row in [*rows, rows[0] | {"choice": "B"}]]
    code, said = told(capsys, "v2", "v1", "--judgments", written(tmp_path, nameless), "--margin", "0.1")
    assert (said["wins"], said["losses"]) == (3, 3)  # an arena's voters have no names


def test_times_that_some_rows_lack_are_not_used_and_that_is_said(tmp_path, capsys):
    rows = rows_of(4, 0, 0)
    rows[0]["answered_at"] = "2026-01-01T00:00:00Z"
    said = told(capsys, "v2", "v1", "--judgments", written(tmp_path, rows), "--margin", "0.1")[1]
    assert said["ordered_by"] == "file" and any(
        note.startswith("3 of 4 judgments have no answered_at") for note in said["assumed"]
    )


def test_a_judge_without_annotator_is_a_program(tmp_path, capsys):
    rows = [{key: value for key, value in row.items() if key != "annotator"} for row in rows_of(3, 0, 1)]
    ask = ["v2", "v1", "--margin", "0.1", "--judgments"]
    _, said = told(capsys, *ask, written(tmp_path, [row | {"judge": "gpt-x"} for row in rows]))
    assert (said["judged_by"], said["judges"], said["wins"]) == ("program", ["gpt-x"], 3)
    assert "names programs. If the column judge names people, say --column annotator=judge." in said["assumed"][-1]
    people = [*ask, written(tmp_path, [row | {"judge": f"expert {n}"} for n, row in enumerate(rows)])]
    assert "name one with --judge. If the column judge names people" in told(capsys, *people)[1]["error"]
    assert told(capsys, *people, "--column", "annotator=judge")[1]["judged_by"] == "people"
    both = [row | {"annotator": "ann", "judge": ""} for row in rows[:3]] + [rows[3] | {"annotator": "", "judge": "gpt-x"}]
    _, said = told(capsys, *ask, written(tmp_path, both))
    assert (said["judged_by"], said["judges"], said["wins"], said["losses"]) == ("people", ["ann"], 3, 0)

"""The README's main job does what it says: its lines, one by one in a shell, from no database to scored outputs.

What is changed: the interpreter is the one that runs the tests, the data go to a folder of the test, and the training has an
encoder small enough for a test (`--encoder`; the README's own takes a minute). What is left out: `make setup`, which installs,
and what `migrate` does, for `tests/migrated.py` ran it on an empty folder: its line finds that database.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evaluator.world import tiny_encoder
from tests.migrated import migrated

ROOT = Path(__file__).parent.parent
SAYS = {  # what a line has to print, by its command; a file's rows are counted by hand in examples/README.md
    "migrate": ["No migrations to apply."],
    "create_campaign": ["campaign: talk"],
    "import_outputs": ["rows: 40", '"systems": 4, "contexts": 10, "outputs": 40'],
    "import_scores": ["rows: 160", '"scores": 160'],
    "leaderboard": ["Judged by annotators (some or all simulated)", "Human (human)", "Simulated data"],
    "train_comparator": ["comparator: talk-overall-"],
    "ask_where_unsure": ["pairs: "],
    "score_outputs": ["comparator: talk-overall-", "rows: 40"],
}


def main_job() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.split("## The main job")[1].split("\n## ")[0]
    return re.findall(r"^    (.+)$", section, flags=re.MULTILINE)


@pytest.fixture
def shell(tmp_path):
    """A function: a line of the README -> how it ended, in a folder that has what a fresh clone has."""
    for name in ("manage.py", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = {k: v for k, v in os.environ.items() if k not in ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "BROKER_URL")}
    environment |= {"DATA_DIR": str(tmp_path / "var"), "OMP_NUM_THREADS": "1"}

    def run(line: str) -> subprocess.CompletedProcess:
        line = line.replace(".venv/bin/python", sys.executable)
        return subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True)

    return run


def test_every_line_succeeds(shell, tmp_path):
    (tmp_path / "var").mkdir()
    shutil.copy(migrated(None), tmp_path / "var" / "comparena.sqlite3")
    lines = main_job()
    assert len(lines) >= 10 and all(line.startswith(".venv/bin/python manage.py ") for line in lines)
    for line in lines:
        name = line.split()[2]
        done = shell(f"{line} --encoder {tiny_encoder()}" if name == "train_comparator" else line)
        assert done.returncode == 0, (line, done.stderr)
        for said in SAYS.get(name, []):
            assert said in done.stdout, (line, done.stdout)
    scored = [json.loads(row) for row in (tmp_path / "var" / "scored.jsonl").read_text().splitlines()]
    assert len(scored) == 40 and all(0 <= row["score"] <= 1 for row in scored)


def test_a_command_before_the_database_is_made_says_what_to_do(shell):
    done = shell(".venv/bin/python manage.py create_campaign talk --criterion Overall:1:5")
    assert done.returncode == 1
    assert done.stderr.strip() == "CommandError: The database is not made yet, or not up to date: run manage.py migrate first."


def test_the_sample_says_that_it_is_made_up():
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert "made up" in text and "simulated" in text
    scores = [json.loads(row) for row in (ROOT / "examples" / "scores.jsonl").read_text().splitlines()]
    assert len(scores) == 160 and all(row["simulated"] and row["annotator"].startswith("simulated-") for row in scores)
    assert len((ROOT / "examples" / "outputs.jsonl").read_text().splitlines()) == 40

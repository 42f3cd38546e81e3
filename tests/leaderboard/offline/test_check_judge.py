"""`comparena check_judge`: agreement, errors, and the corrected ranking, from two files."""

import json
import random
import re
import shlex
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from leaderboard.offline.commands import main
from leaderboard.offline.correction import Correction, Judged, Labels

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("django", "django.db", "rest_framework", "celery", "torch", "transformers", "pandas")
SYSTEMS = ("alpha", "beta", "gamma")


def outputs() -> list[dict]:
    """40 contexts, three systems; the judge is one point too kind to gamma and knows quality but for noise."""
    rng = random.Random(5)
    rows = []
    for i in range(40):
        for strength, system in enumerate(SYSTEMS):
            quality = 1.5 + strength * 0.8 + rng.random()
            liked = quality + (1.0 if system == "gamma" else 0.0) + rng.gauss(0, 0.3)
            text = " ".join(["word"] * rng.randint(3, 9))
            rows.append({"context_id": f"c{i:02}", "context": f"question {i}", "system": system, "output": text})
            rows[-1] |= {"gpt": round(liked, 3), "quality": quality}
    return rows


def labels(rows: list[dict]) -> list[dict]:
    """Five people score the outputs of 20 contexts, from 1 to 5."""
    rng = random.Random(6)
    found = []
    for row in rows:
        if int(row["context_id"][1:]) % 2:
            continue
        for who in range(5):
            score = max(1, min(5, round(row["quality"] + rng.gauss(0, 0.5))))
            about = {name: row[name] for name in ("context_id", "system")}
            found.append(about | {"aspect": "Overall", "scale": [1, 5], "annotator": f"r{who}", "score": score})
    return found


def written(path: Path, rows: list[dict]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path) -> tuple[str, str]:
    rows = outputs()
    return written(tmp_path / "outputs.jsonl", rows), written(tmp_path / "labels.jsonl", labels(rows))


def told(capsys, *words: str) -> dict:
    assert main(["check_judge", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def pair_votes(tmp_path, names=SYSTEMS) -> tuple[str, str]:
    rng = random.Random(7)
    by = {"judge.jsonl": [], "people.jsonl": []}
    for i in range(30):
        for a, b in combinations(range(3), 2):
            about = {"context_id": f"c{i}", "context": f"question {i}", "system_a": names[a], "system_b": names[b]}
            about |= {"output_a": f"{i} {a}", "output_b": f"{i} {b}"}
            by["judge.jsonl"].append(about | {"annotator": "gpt", "choice": rng.choice(["A", "B", "B", "tie"])})
            for who in range(4):
                if i < 15:
                    by["people.jsonl"].append(about | {"annotator": f"r{who}", "choice": rng.choice(["A", "B", "B", "B"])})
    return tuple(written(tmp_path / name, rows) for name, rows in by.items())


def test_the_judges_error_is_found_and_taken_off(files, capsys):
    found = told(capsys, files[0], "--judge", "gpt", "--people", files[1], "--judge-scale", "no")
    (judge,) = found["judges"]
    rows = {row["system"]: row for row in judge["systems"]}
    assert [row["system"] for row in judge["systems"]] == ["gamma", "beta", "alpha"]
    assert rows["gamma"]["misstated"]["low"] > 0.3  # one point too kind
    assert abs(rows["alpha"]["misstated"]["value"]) < 0.3
    people = [row["score"] for row in map(json.loads, open(files[1])) if row["system"] == "gamma"]
    assert rows["gamma"]["people"]["value"] == pytest.approx(np.mean(people), abs=1e-6)
    assert rows["gamma"]["misstated"]["value"] == pytest.approx(
        rows["gamma"]["judge"] - rows["gamma"]["corrected"]["value"], abs=2e-6
    )
    assert (judge["labels"], judge["judged"], judge["contexts"], judge["annotators"]) == (300, 120, 20, 5)
    assert judge["population"].startswith("people in general") and 0 < judge["weight"] <= 1
    assert judge["pairs_ordered_as_people_do"]["value"] > 0.9 and judge["alternative_annotator"]["tested"]
    assert found["about"] == "scores" and found["scale"] == [1, 5] and found["warnings"] == []
    assert found["seed"] == 0 and "+" in found["code"] and found["command"].startswith("comparena check_judge ")
    assert told(capsys, *shlex.split(found["command"])[2:-1]) == found  # the command that is printed gives the same


def test_it_corrects_as_prediction_powered_inference_does():
    """Eight labels of one mean, hand arithmetic: H = 0.5, L = 0.625, A = 0.25 of 24 answers."""
    judge = np.array([1, 1, 1, 1, 1, 0, 0, 0.0])
    people = np.array([1, 1, 1, 1, 0, 0, 0, 0.0])
    zero = np.zeros(8, dtype=np.int64)
    labelled = Labels(zero, people, judge, np.arange(8), np.arange(8) % 4)
    others = np.concatenate([judge, [1.0], np.zeros(15)])
    found = Correction(1, labelled, Judged(np.zeros(24, dtype=np.int64), others, np.arange(24)), 1.0)
    assert (found.people[0], found.of_labelled[0], found.judge[0]) == (0.5, 0.625, 0.25)
    assert found.corrected[0] == pytest.approx(0.5 - found.weight * 0.375)
    assert 0 < found.weight < 0.8  # the slope of people on the judge: 4 / 5


def test_where_all_is_labelled_the_judge_adds_nothing():
    values = np.array([0, 1, 1, 0, 1, 1.0])
    one = np.zeros(6, dtype=np.int64)
    labelled = Labels(one, values, 1 - values, np.arange(6), np.arange(6) % 3)
    found = Correction(1, labelled, Judged(one, 1 - values, np.arange(6)), 1.0)
    v = np.ones(1)
    assert found.weight == 0 and found.of_corrected(v) == found.of_people(v)


def said(difference: np.ndarray) -> np.ndarray:
    return np.where(np.abs(difference) < 0.4, 0.0, np.sign(difference))


@pytest.mark.parametrize("people", [65, 12])
def test_corrected_gaps_hold_the_truth(people):
    """30 campaigns of three systems, 80 questions and 220 labels a pair; more are in docs/results/judge-check.md. A person goes
    by quality, an own leaning and chance, and the judge likes the first system by 0.8 too much. Differences are normal, so the
    truth is a formula. 90% is two standard errors below 95% where the 90 gaps count as 76."""
    quality, first, second = np.array([0.4, 0.0, -0.4]), np.array([0, 0, 1]), np.array([1, 2, 2])
    spread, apart = np.sqrt(2 * 0.8**2 + 2 * 0.3**2 + 1), quality[first] - quality[second]
    gaps = norm.cdf((apart - 0.4) / spread) - norm.cdf((-apart - 0.4) / spread)
    pair, context, labelled = np.repeat(np.arange(3), 80), np.tile(np.arange(80), 3), np.repeat(np.arange(3), 220)
    held = []
    for run in range(30):
        rng = np.random.default_rng([11, run])
        worth, taste = quality + rng.normal(0, 0.8, (80, 3)), rng.normal(0, 0.3, (people, 3))
        liked = worth + rng.normal(0, 0.8, (80, 3)) + [0.8, 0, 0]
        judged = said(liked[context, first[pair]] - liked[context, second[pair]])
        question, who = rng.integers(0, 80, 660), rng.integers(0, people, 660)
        seen = [worth[question, side[labelled]] + taste[who, side[labelled]] for side in (first, second)]
        labels = Labels(
            labelled, said(seen[0] - seen[1] + rng.normal(0, 1, 660)), judged[labelled * 80 + question], question, who
        )
        found = Correction(3, labels, Judged(pair, judged, context), 2.0)
        for v, gap in zip(np.eye(3), gaps):
            held.append([one.low <= gap <= one.high for one in (found.of_corrected(v), found.of_people(v))])
    assert (np.mean(held, axis=0) > 0.9).all()


def test_pairs_of_votes(tmp_path, capsys):
    judge, people = pair_votes(tmp_path)
    found = told(capsys, judge, "--people", people)
    (one,) = found["judges"]
    assert found["about"] == "pairs" and one["judge"] == "gpt" and (one["labels"], one["judged"]) == (180, 90)
    votes = [row for row in map(json.loads, open(people)) if (row["system_a"], row["system_b"]) == ("alpha", "gamma")]
    gain = np.mean([{"A": 1, "tie": 0, "B": -1}[row["choice"]] for row in votes])
    (gap,) = [gap for gap in one["gaps"] if {gap["first"], gap["second"]} == {"alpha", "gamma"}]
    assert gap["people"]["value"] == pytest.approx(gain if gap["first"] == "alpha" else -gain)


def test_order_of_rows_and_names_of_systems_change_no_digit(tmp_path, capsys):
    judge, people = pair_votes(tmp_path)
    found = told(capsys, judge, "--people", people)
    other = tmp_path / "other"
    other.mkdir()
    renamed = dict(zip(SYSTEMS, ("zeta", "an early name", "M")))
    pair_votes(other, tuple(renamed.values()))
    for name in ("judge.jsonl", "people.jsonl"):
        rows = (other / name).read_text().splitlines()
        random.Random(1).shuffle(rows)
        (other / name).write_text("\n".join(rows))
    again = told(capsys, str(other / "judge.jsonl"), "--people", str(other / "people.jsonl"))
    as_called = json.dumps(found["judges"])
    for old, new in renamed.items():
        as_called = as_called.replace(f'"{old}"', f'"{new}"')
    by_names = lambda gaps: {frozenset((gap["first"], gap["second"])): gap["corrected"] for gap in gaps}
    (one,), (two,) = json.loads(as_called), again["judges"]
    assert by_names(one.pop("gaps")).keys() == by_names(two.pop("gaps")).keys()
    assert one == two


def test_labels_in_the_same_table(tmp_path, capsys):
    """One row an example, as truescore has it: a judge's verdict on all, a person's on some."""
    rng = random.Random(2)
    lines = ["id,judge_passed,human_passed"]
    for i in range(200):
        judge = rng.random() < 0.8
        human = (judge if rng.random() < 0.8 else not judge) if i < 80 else None
        lines.append(f"q{i},{'pass' if judge else 'fail'},{'' if human is None else 'pass' if human else 'fail'}")
    (tmp_path / "results.csv").write_text("\n".join(lines) + "\n")
    file = str(tmp_path / "results.csv")
    found = told(capsys, file, "--judge", "judge_passed", "--people", file, "--label", "human_passed")
    (judge,) = found["judges"]
    (row,) = judge["systems"]
    assert (judge["labels"], judge["judged"], judge["annotators"]) == (80, 200, 1)
    assert row["system"] == "all outputs"
    assert row["corrected"]["low"] < row["corrected"]["value"] < row["corrected"]["high"]
    assert any("this one annotator only" in warning for warning in found["warnings"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--judge", "gbt"], "outputs.jsonl has no column and no judge called 'gbt'"),
        (["--judge", "gpt", "--criterion", "Style"], "labels.jsonl has no answers on 'Style'"),
        (["--judge", "gpt", "--label", "nothing"], "labels.jsonl, field 'nothing': is no column of this file"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(files, capsys, words, expected):
    assert main(["check_judge", files[0], "--people", files[1], *words]) == 3
    said = capsys.readouterr()
    assert said.out == "" and expected in said.err and "Traceback" not in said.err


def test_files_with_nothing_in_common_are_refused(files, tmp_path, capsys):
    rows = [row | {"context_id": f"other {row['context_id']}"} for row in map(json.loads, open(files[1]))]
    other = written(tmp_path / "others.jsonl", rows)
    assert main(["check_judge", files[0], "--judge", "gpt", "--people", other]) == 3
    assert "answered nothing that people labelled in others.jsonl" in capsys.readouterr().err


def test_the_page_stands_alone(files, tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["check_judge", files[0], "--judge", "gpt", "--people", files[1], "--html", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert not re.search(r"<script|https?://|src=|@import|url\(", html)
    assert '<html lang="en">' in html and "<title>" in html and html.index("<svg") < html.index("<table")
    assert all(
        f'role="img" aria-label="{name}' in html for name in ("The systems", "Agreement with people", "What more labels")
    )
    text = capsys.readouterr().out
    assert "gamma" in text and "judge is off by" in text and "Seed 0. Code" in text


def test_names_are_escaped(files, tmp_path, capsys):
    hostile = "<script>alert(1)</script>"
    paths = []
    for file in files:
        rows = [row | {"system": hostile if row["system"] == "alpha" else row["system"]} for row in map(json.loads, open(file))]
        paths.append(written(tmp_path / f"hostile {Path(file).name}", rows))
    page = tmp_path / "report.html"
    assert main(["check_judge", paths[0], "--judge", "gpt", "--people", paths[1], "--html", str(page)]) == 0
    assert "<script" not in page.read_text(encoding="utf-8")


def test_it_loads_neither_django_nor_torch(files):
    words = ["comparena", "check_judge", files[0], "--judge", "gpt", "--people", files[1]]
    code = (
        f"import sys; from comparena.command import main\nsys.argv = {words!r}\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert ended.code == 0, ended.code\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr

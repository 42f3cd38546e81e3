"""`comparena check_judge` with tables as people keep them: holes, repeats, a second judge, other scales, rubbish."""

import json
import random

import pytest

from evaluator.metaevaluation import correlation_levels, resampling
from leaderboard.offline.commands import main

pytestmark = pytest.mark.one_database


def table(holes: float = 0.0, people: tuple[str, ...] = ("p1", "p2"), points: float = 1.0) -> list[list[str]]:
    """40 contexts, three systems; a judge's column `gpt`, of so many points for each of people's, and people's on half."""
    rng = random.Random(4)
    rows = [["context_id", "system", "output", "gpt", *people]]
    for i in range(40):
        for k, system in enumerate("abc"):
            quality = 2 + 0.6 * k + rng.random()
            judge = "" if rng.random() < holes else f"{points * (quality + rng.gauss(0, 0.3)):.2f}"
            empty = [i >= 20 or rng.random() < holes for _ in people]
            said = ["" if none else str(max(1, min(5, round(quality + rng.gauss(0, 0.5))))) for none in empty]
            rows.append([f"c{i}", system, f"text {i} {k}", judge, *said])
    return rows


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """Intervals of correlations, of which nothing is asked here, take most of the time."""
    for module in (resampling, correlation_levels):
        monkeypatch.setattr(module, "RESAMPLES", 20)


@pytest.fixture
def ask(tmp_path, capsys):
    """ask(rows, words) -> (exit code, the JSON object, stderr); labels are the columns p1 and p2 of the same table"""

    def asked(rows, *words, labels=("p1", "p2"), judges=("gpt",), text=False):
        file = tmp_path / "t.csv"
        file.write_text("\n".join(",".join(row) for row in rows) + "\n")
        options = [word for name in labels for word in ("--label", name)]
        options += [word for name in judges for word in ("--judge", name)]
        code = main(["check_judge", str(file), "--people", str(file), *options, *words, *([] if text else ["--json"])])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out if text else json.loads(said.out, parse_constant=pytest.fail), said.err

    return asked


def test_empty_cells_are_counted_and_listed(ask):
    rows = table(holes=0.2)
    empty = lambda column: [n for n, row in enumerate(rows[1:], 2) if not row[column]]
    _, said, _ = ask(rows)
    judge, people = said["files"]
    assert (judge["read"], judge["left_out"]) == (120, {"has no score": len(empty(3))})
    assert [line for _, line, _ in judge["listed"]] == empty(3)
    assert (people["read"], people["left_out"]) == (240, {"has no score": len(empty(4)) + len(empty(5))})
    _, text, _ = ask(rows, text=True)
    assert f"t.csv: 120 answers read, {len(empty(3))} left out:\n  {len(empty(3))} has no score" in text


def test_a_judge_beyond_peoples_scale_is_put_on_it_by_ranks_and_that_is_said(ask):
    ranks = "its scores were put on people's scale by their ranks."
    _, inside, _ = ask(table())
    _, beyond, _ = ask(table(points=20))
    _, as_they_are, _ = ask(table(points=20), "--judge-scale", "no")
    assert ranks not in inside["warnings"] + as_they_are["warnings"] and ranks in beyond["warnings"]
    figure = lambda said: [row["judge"] for row in said["judges"][0]["systems"]]
    assert all(1 <= value <= 5 for value in figure(beyond)) and min(figure(as_they_are)) > 40


def test_what_is_people_is_no_judge(ask):
    code, said, err = ask(table(), judges=("p1",), labels=("p1", "p2"))
    assert code == 3 and "'p1' can't be both the judge's scores and people's" in err and said["exit_code"] == 3


def test_a_judge_of_other_texts_is_left_out_with_a_word(ask):
    rows = [[*row, "other" if n == 0 else "3" if n > 90 else ""] for n, row in enumerate(table())]
    code, said, _ = ask(rows, judges=("gpt", "other"))
    assert code == 0 and [judge["judge"] for judge in said["judges"]] == ["gpt"]
    assert any("The judge 'other' in t.csv answered nothing that people labelled" in warning for warning in said["warnings"])


def test_order_of_rows_changes_no_digit_where_a_person_scored_again(ask, tmp_path, capsys):
    rows = table()
    file = tmp_path / "labels.jsonl"
    labels = [{"context_id": row[0], "system": row[1], "annotator": "p1", "score": int(row[4])} for row in rows[1:] if row[4]]
    labels += [label | {"score": 6 - label["score"]} for label in labels[:9]]
    found = []
    for seed in range(2):
        random.Random(seed).shuffle(labels)
        file.write_text("\n".join(map(json.dumps, labels)))
        (tmp_path / "t.csv").write_text("\n".join(map(",".join, [rows[0], *random.Random(seed).sample(rows[1:], 120)])))
        assert main(["check_judge", str(tmp_path / "t.csv"), "--judge", "gpt", "--people", str(file), "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["judges"] == found[1]["judges"] and found[0]["judges"][0]["labels"] == 60
    assert any(sentence.startswith("9 of people's scores are of an output that the same") for sentence in found[0]["assumed"])


def test_what_is_no_number_is_one_sentence(ask):
    for cell in ("1e999", "a good one", "-", "[1]", "1,5,2", "\0"):
        rows = [row[:] for row in table()]
        rows[3][3] = f'"{cell}"'
        code, said, err = ask(rows)
        assert code == 3 and "t.csv, line 4" in err and len(err.splitlines()) == 1, (cell, err)


def test_one_label_says_next_to_nothing(ask):
    rows = [row if n < 2 else [*row[:4], "", ""] for n, row in enumerate(table())]
    code, said, _ = ask(rows)
    (judge,) = said["judges"]
    assert code == 0 and not any(gap["known"] for gap in judge["gaps"]) and judge["labels"] == 2
    (row,) = [row for row in judge["systems"] if row["corrected"]]
    assert (
        row["corrected"]["high"] - row["corrected"]["low"] > 3
    )  # people used two points of the scale, which is all that is known of it


def two_files(tmp_path, capsys, judge: str, system: str, aspect: str, *words: str, **more) -> tuple[int, dict]:
    """Of a, b and c, a is best by people, who count errors, and by the judge's column; both name their columns as given."""
    outputs, labels = [], []
    for i in range(30):
        for k, name in enumerate("abc"):
            about = {"context_id": f"c{i}", "system": name}
            outputs.append(about | {"system": system if k == 0 else name, "output": f"text {i} {k}", judge: 1 + k + i % 2})
            labels += [about | {"aspect": aspect, "annotator": who, "score": 1 + k + i % 2, **more} for who in "pq"]
    files = []
    for name, rows in (("judge.jsonl", outputs), ("people.jsonl", labels)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        files.append(str(tmp_path / name))
    code = main(["check_judge", files[0], "--people", files[1], "--judge", judge, "--json", *words])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("judge", "aspect", "more"), [("count", "Errors made", {}), ("perplexity", "Overall", {})])
def test_which_end_is_best_is_asked_of_people_and_of_the_judge(tmp_path, capsys, judge, aspect, more):
    code, said = two_files(tmp_path, capsys, judge, "a", aspect, **more)
    assert code == 3 and said["field"] == "best"


def test_where_the_least_is_best_the_judges_end_is_asked_for_too(tmp_path, capsys):
    code, said = two_files(tmp_path, capsys, "count", "a", "Errors made", best="low")
    assert code == 3 and "--constant best=low" in said["error"]
    code, said = two_files(tmp_path, capsys, "count", "a", "Errors made", "--constant", "best=low", best="low")
    assert code == 0 and said["judges"][0]["pairs_ordered_as_people_do"]["value"] == 1
    code, said = two_files(tmp_path, capsys, "count", "a", "Errors made", "--best", "low")
    assert [row["system"] for row in said["judges"][0]["systems"]] == ["a", "b", "c"]
    assert "Of the judge's scores, too, the lowest is taken for the best." in said["assumed"]


def test_systems_are_spelt_alike_in_both_files(tmp_path, capsys):
    _, said = two_files(tmp_path, capsys, "count", "A ", "Errors made", "--best", "low")
    assert [(row["system"], row["labels"]) for row in said["judges"][0]["systems"]] == [("a", 60), ("b", 60), ("c", 60)]


def test_a_judge_says_nothing_of_a_system_that_it_never_saw(ask):
    rows = table()
    rows = [[*row[:3], "" if row[1] == "c" else row[3], *row[4:]] for row in rows]
    _, said, _ = ask(rows)
    assert {row["system"]: row["judge"] is None for row in said["judges"][0]["systems"]}["c"]

"""`comparena gate` as a release would use it, and misuse it: written from what its page promises, with judgments made here."""

import csv
import io
import json
import random
from pathlib import Path

import pytest

from leaderboard.noninferiority.verdict import verdict
from leaderboard.offline.commands import main

pytestmark = pytest.mark.one_database

PASS, FAIL, UNKNOWN, WRONG = 0, 1, 2, 3
WORDS = {PASS: "PASS", FAIL: "FAIL", UNKNOWN: "INCONCLUSIVE"}


def votes(count: int, wins: float, ties: float = 0.0, seed: int = 0, new: str = "new", old: str = "old") -> list[dict]:
    """One vote on each of so many contexts; the new system wins this share of all, and stands on either side."""
    rng, rows = random.Random(seed), []
    for n in range(count):
        drawn = rng.random()
        said = "tie" if drawn < ties else "new" if drawn < ties + wins else "old"
        sides = [new, old] if rng.random() < 0.5 else [old, new]
        choice = "tie" if said == "tie" else "AB"[sides.index(new if said == "new" else old)]
        about = {"context_id": f"c{n}", "system_a": sides[0], "system_b": sides[1]}
        rows.append(about | {"annotator": f"p{n % 7}", "choice": choice})
    return rows


def lines(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def table(rows: list[dict], end: str) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.fixture
def gate(capsys):
    """gate(words) -> (exit code, stdout, stderr)"""

    def asked(*words) -> tuple[int, str, str]:
        try:
            code = main(["gate", *map(str, words)])
        except SystemExit as ended:  # argparse
            code = ended.code
        said = capsys.readouterr()
        assert "Traceback" not in said.out + said.err, said.err
        return code, said.out, said.err

    return asked


@pytest.fixture
def ask(tmp_path, gate):
    """The gate's answer about a file of rows."""
    return lambda rows, *more, new="new", old="old", margin=0.05: gate(
        new, old, "--judgments", lines(tmp_path / "votes.jsonl", rows), f"--margin={margin}", *more
    )


def is_answer(done: tuple[int, str, str], code: int) -> None:
    assert (done[0], done[1].split(":")[0]) == (code, WORDS[code]), done


def is_refusal(done: tuple[int, str, str], *words: str) -> None:
    """In a sentence on stderr, with no verdict, and with a code that is no verdict's."""
    assert done[0] == WRONG and done[1] == "", done
    assert all(word in done[2] for word in words), done
    assert len(done[2].strip().splitlines()) <= 8, done


def numbers(done: tuple[int, str, str]) -> dict:
    return {name: value for name, value in json.loads(done[1]).items() if name not in ("sha256", "code")}


def test_the_names_exchanged_exchange_the_answer(ask):
    rows = votes(400, 0.9)
    is_answer(ask(rows), PASS)
    is_answer(ask(rows, new="old", old="new"), FAIL)
    is_answer(ask(votes(10, 0.5)), UNKNOWN)
    is_answer(ask(votes(2000, 0.0, ties=1.0), margin=0.2), PASS)  # all ties are no loss


def test_sides_do_not_count(ask):
    rows = votes(150, 0.6, ties=0.1)
    other = {"A": "B", "B": "A", "tie": "tie"}
    turned = [row | {"system_a": row["system_b"], "system_b": row["system_a"], "choice": other[row["choice"]]} for row in rows]
    assert numbers(ask(rows, "--json")) == numbers(ask(turned, "--json"))


def test_votes_on_other_systems_do_not_count(ask):
    rows, others = votes(300, 0.85), votes(300, 0.1, new="third", old="fourth") + votes(300, 0.1, new="new", old="third")
    mixed = [row for both in zip(rows, others) for row in both]
    alone, among = (numbers(ask(some, "--json")) for some in (rows, mixed))
    assert (alone["gain"], alone["low"], alone["units"]) == (among["gain"], among["low"], among["units"])


def test_a_thousand_votes_on_one_context_are_one_context(ask):
    is_answer(ask([votes(1, 1.0)[0] | {"annotator": f"p{n}"} for n in range(1000)]), UNKNOWN)


def test_two_systems_that_never_met(ask):
    is_refusal(ask(votes(50, 0.5, old="third") + votes(50, 0.5, new="old", old="third")), "new", "old")


def test_an_empty_file_and_none(tmp_path, gate):
    for content in ("", "\n\n", "[]", "{}"):
        (tmp_path / "empty.json").write_text(content)
        is_refusal(gate("new", "old", "--judgments", tmp_path / "empty.json", "--margin", 0.05), "empty.json")
    is_refusal(gate("new", "old", "--judgments", tmp_path / "none.jsonl", "--margin", 0.05), "none.jsonl")
    is_refusal(gate("new", "old", "--judgments", tmp_path, "--margin", 0.05))


def test_a_margin_that_is_none(ask):
    """5 points are no 5%: what cannot be a share of wins less losses is refused."""
    for margin in ("-0.1", "nan", "inf", "five", "", "1e999", "5%", "2"):
        is_refusal(ask(votes(9, 0.5), margin=margin), "margin")


def test_rubbish(tmp_path, gate):
    for content in (b"\0" * 999, b"\x89PNG\r\n", b'{"a": ', b"PK\x03\x04", b"NaN\nNaN\n", b"[" * 99999):
        (tmp_path / "v.jsonl").write_bytes(content)
        is_refusal(gate("new", "old", "--judgments", tmp_path / "v.jsonl", "--margin", 0.1), "v.jsonl")


def test_line_ends_marks_and_endings_change_nothing(tmp_path, gate):
    rows, said = votes(200, 0.7, ties=0.1), set()
    (tmp_path / "a.csv").write_bytes(table(rows, "\n").encode())
    (tmp_path / "b.csv").write_bytes(b"\xef\xbb\xbf" + table(rows, "\r\n").replace(",", ";").encode())
    (tmp_path / "c.json").write_text(json.dumps(rows))
    (tmp_path / "d.csv").write_bytes(table(rows, "\r\n").encode("utf-16"))
    lines(tmp_path / "e.jsonl", rows)
    for path in sorted(tmp_path.iterdir()):
        code, out, err = gate("new", "old", "--judgments", path, "--margin", 0.05)
        assert code in WORDS, (path.name, err)
        said.add((code, out.replace(path.name, "")))
    assert len(said) == 1, said


def test_names_with_commas_quotes_and_worse(tmp_path, gate):
    for new, old in (
        ("new, v2", 'the "old"'),
        ("=cmd()", "-1"),
        ("élm", "elm"),
        ("1", "2"),
        ("нов", "\u200eold"),
        ("n" * 200, "o"),
    ):
        (tmp_path / "v.csv").write_text(table(votes(400, 0.9, new=new, old=old), "\r\n"), encoding="utf-8")
        is_answer(gate("--judgments", tmp_path / "v.csv", "--margin", "0.05", "--", new, old), PASS)


def growing(rng: random.Random, mean: float) -> tuple[list[float], list[str]]:
    """(points, groups) in their order: 40 groups of 1 to 5 contexts that share how well the new system does there; two people
    judge each, and the mean gain over groups is `mean`."""
    points, units = [], []
    for group in range(40):
        gain = mean + rng.choice([-0.5, 0.5])
        for _ in range(rng.randint(1, 5) * 2):
            points.append(0.0 if rng.random() < 0.2 else 1.0 if rng.random() < (1 + gain / 0.8) / 2 else -1.0)
            units.append(f"g{group}")
    return points, units


@pytest.mark.parametrize(("mean", "margin", "false"), [(0.0, 0.0, "FAIL"), (-0.2, 0.2, "PASS")])
def test_twenty_looks_say_something_false_in_at_most_one_run_of_twenty(mean, margin, false):
    """At the edge of the margin, in groups. Of 40 runs with 5% each, more than 6 are wrong with a chance of 0.3% (binomial)."""
    wrong = 0
    for run in range(40):
        points, units = growing(random.Random(f"{false} {run}"), mean)
        ends = range(len(points) // 20, len(points) + 1, len(points) // 20)
        wrong += any(verdict(points[:end], units[:end], margin).word.value == false for end in ends)
    assert wrong <= 6

"""Installations made by earlier commits, with their own code (tests/golden/installations): today's migrates them, and every
number of their boards is what it was, through every door. Where a name was wrong, it is listed here as renamed."""

import csv
import io
import json
import lzma
import os
import re
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INSTALLATIONS = ROOT / "tests/golden/installations"
COMMITS = ["6a0906d", "81241e2"]
KEPT = "system human_written rank_low rank_high rating rd volatility low high games wins ties losses human_mean cluster best"
# What a name of before was called wrongly, and is called now: an error is no RD where no Glicko-2 made it, and people's scores
# are answers, no games.
RENAMED = {"rd": ["error"], "games": ["answers"]}
# What no board keeps: how it agrees with people's board is worked out when it is read. Since 0e1484e its interval has the noise
# of both boards.
WORKED_OUT_ANEW = {"6a0906d": re.compile(r"\.agreement_with_people\.(all|generated)\.(low|high)"), "81241e2": re.compile("$^")}
# An interval's end is one of few steps of 1/150, means of 30 boards of four systems; another processor's rounding may take
# the next one.
BY_THE_PROCESSOR = re.compile(r"\.agreement_with_people\.all\.(low|high)")
STEP = 0.0068
# What a page said and should not have, by the board: the rank and the difference of systems that never met (29: two groups;
# 26: one without any answer), and the margin beside the second of two equals, which its standings put first (22).
WRONGLY_SAID = {("81241e2", 22): ["191"], ("81241e2", 26): ["187", "49"], ("81241e2", 29): ["35", "35", "3", "4"]}

pytestmark = [
    pytest.mark.database,
    pytest.mark.skipif("DATABASE_URL" in os.environ, reason="these installations kept their rows in SQLite"),
]


@pytest.fixture(scope="module", params=COMMITS)
def installation(request, tmp_path_factory) -> tuple[str, dict, dict]:
    """(commit, what it said then, what it says today)"""
    folder, then = tmp_path_factory.mktemp(request.param), INSTALLATIONS / f"{request.param}.json.xz"
    with tarfile.open(INSTALLATIONS / f"{request.param}.tar.xz") as archive:
        archive.extractall(folder / "data", filter="data")
    environment = {"DATA_DIR": str(folder / "data"), "BROKER_URL": "memory://", "SECRET_KEY": "tests only"}
    made = subprocess.run(
        [sys.executable, INSTALLATIONS / "today.py", then, folder / "now.json"],
        env={**os.environ, **environment, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert made.returncode == 0, made.stderr[-5000:]
    with lzma.open(then) as file:
        return request.param, json.load(file), json.loads((folder / "now.json").read_text())


def pairs(installation) -> list[tuple[str, dict, dict]]:
    """(which board, what was said of it then, what is said of it now)"""
    _, then, now = installation
    return [
        (f"board {a['pk']} ({a['slug']}, {a['judge']} {a['named']}, {a['criterion']!r}, {a['level']})", a["said"], b["said"])
        for a, b in zip(then["boards"], now["boards"], strict=True)
    ]


def test_there_is_a_board_of_every_kind(installation):
    commit, then, _ = installation
    kinds = {(board["judge"], board["level"]) for board in then["boards"]}
    assert {("people", "system"), ("comparator", "system"), ("comparator", "sample"), ("calibrated", "system")} <= kinds
    assert (("other", "sample") in kinds) == (commit == "81241e2")
    assert {board["said"]["json"]["rating"] for board in then["boards"]} == {"glicko2", "by-game", "bradley-terry"}


def test_each_system_s_figures_are_the_same_as_json(installation):
    wrong = []
    for board, then, now in pairs(installation):
        assert signature(now["json"]) == then["json"]["signature"], board
        rows = {row["system"]: row for row in now["json"]["standings"]}
        assert [row["system"] for row in now["json"]["standings"]] == [row["system"] for row in then["json"]["standings"]], (
            board
        )
        wrong += [f"{board}: {line}" for row in then["json"]["standings"] for line in differences(row, rows[row["system"]])]
    assert not wrong, "\n".join(wrong[:40])


def test_every_other_number_of_the_json_is_still_there(installation):
    commit, wrong = installation[0], []
    for board, then, now in pairs(installation):
        known = set(figures(now["json"]))
        for path, number in labelled(then["json"]):
            near = STEP if BY_THE_PROCESSOR.fullmatch(path) else 0.0
            found = any(same(number, other) or abs(number - other) <= near for other in known)
            if not found and not WORKED_OUT_ANEW[commit].fullmatch(path):
                wrong.append(f"{board}: {path} was {number}")
    assert not wrong, "\n".join(wrong[:40])


def test_each_system_s_figures_are_the_same_as_csv(installation):
    wrong = []
    for board, then, now in pairs(installation):
        rows = {row["system"]: row for row in csv.DictReader(io.StringIO(now["csv"]))}
        for row in csv.DictReader(io.StringIO(then["csv"])):
            wrong += [f"{board}: {line}" for line in differences(row, rows[row["system"]])]
            if row["signature"] not in rows[row["system"]].values():
                wrong.append(f"{board}: the signature is lost")
    assert not wrong, "\n".join(wrong[:40])


@pytest.mark.parametrize("kind", ["tex", "svg"])
def test_each_number_of_a_file_is_still_there(installation, kind):
    wrong = []
    for board, then, now in pairs(installation):
        lost = Counter(read(then[kind], kind)) - Counter(read(now[kind], kind))
        wrong += [f"{board}: {lost}"] if lost else []
    assert not wrong, "\n".join(wrong[:40])


def test_each_number_of_the_page_s_tables_is_still_there(installation):
    commit, wrong = installation[0], []
    for board, then, now in pairs(installation):
        known = WRONGLY_SAID.get((commit, then["json"]["tournament"]), [])
        lost = Counter(then["page"]) - Counter(now["page"]) - Counter(known)
        wrong += [f"{board}: {lost}"] if lost else []
    assert not wrong, "\n".join(wrong[:40])


def test_the_command_prints_the_same_numbers(installation):
    _, then, now = installation
    wrong = []
    for (slug, words, before), (_, _, after) in zip(then["printed"], now["printed"], strict=True):
        lost = Counter(read(before, "txt")) - Counter(read(after, "txt"))
        wrong += [f"leaderboard {slug} {' '.join(words)}: {lost}\n{after}"] if lost or after.startswith("refused") else []
    assert not wrong, "\n".join(wrong[:10])


def test_snapshots_and_answers_are_the_same(installation):
    _, then, now = installation
    for slug, before in then["campaigns"].items():
        after = now["campaigns"][slug]
        assert digests(after["snapshots"]) == digests(before["snapshots"])
        for kind in ("scores", "judgments"):
            old, new = (list(csv.DictReader(io.StringIO(said[kind]))) for said in (before, after))
            assert len(old) == len(new), (slug, kind)
            wrong = [(a, b) for a, b in zip(old, new) if any(b.get(key) != value for key, value in a.items())]
            assert not wrong, (slug, kind, wrong[0])


def test_every_page_of_its_campaigns_opens(installation):
    pages = installation[2]["pages"]
    assert {address: status for address, status in pages.items() if status != 200} == {}
    assert len(pages) > 60


def test_it_goes_on(installation):
    """With three answers of somebody new, a snapshot that has them, and tournaments."""
    commit, _, now = installation
    on = now["goes on"]
    assert on["answers"] == [201, 201, 201] and on["snapshots"] == [1, 201]
    for name, board in on["played"].items():
        if commit == "6a0906d" and name in ("comparator", "calibrated"):  # its format is refused in words: train it again
            assert "is not of format 6, the only one that this version reads; train it again." in board
        else:
            assert [row["rating"] for row in board["standings"]] == sorted(
                (r["rating"] for r in board["standings"]), reverse=True
            )
            assert len(board["standings"]) + len(board["absent"]) >= 4


def differences(then: dict, now: dict) -> list[str]:
    """What a system's row of before held and today's does not, or holds otherwise."""
    wrong = []
    for key in KEPT.split():
        names = [name for name in (key, *RENAMED.get(key, ())) if name in now]
        if key in then and not any(same(then[key], now[name]) for name in names):
            wrong.append(f"{then['system']}: {key} was {then[key]!r} and is {[now[name] for name in names]}")
    return wrong


def same(then, now) -> bool:
    """Equal to the last digit that was given then."""
    if then == now or (then in (None, "") and now in (None, "")):
        return True
    try:
        return abs(float(then) - float(now)) <= 0.5001 * 10 ** -len(str(then).partition(".")[2])
    except (TypeError, ValueError):
        return False


def signature(board: dict) -> str:
    return board.get("signature") or board["provenance"]["signature"]


def figures(tree) -> list[float]:
    return [number for _, number in labelled(tree)]


def labelled(tree, path: str = "") -> list[tuple[str, float]]:
    """Every fractional number below, with its path: whole ones may be of anything."""
    if isinstance(tree, dict):
        return [found for key, value in tree.items() for found in labelled(value, f"{path}.{key}")]
    if isinstance(tree, list):
        return [found for i, value in enumerate(tree) for found in labelled(value, f"{path}[{i}]")]
    return [(path, tree)] if isinstance(tree, float) else []


def read(text: str, kind: str) -> list[str]:
    """The numbers of a file: of LaTeX's rows, of an SVG's texts, of the lines that the command prints of systems."""
    if kind == "tex":
        text = "\n".join(line for line in text.splitlines() if "&" in line)
    elif kind == "svg":
        text = "\n".join(re.findall(r">([^<]+)<", text))
    else:
        text = "\n".join(line for line in text.splitlines() if re.search(r"\d–\d", line) and "rank" not in line)
    return re.findall(r"\d[\d.,]*", text.replace("|", " "))


def digests(snapshots) -> list[str]:
    return [snapshot["digest"] for snapshot in (snapshots["results"] if isinstance(snapshots, dict) else snapshots)]

"""Imports that the contracts in pyproject.toml must refuse, planted in a copy of the code, and the rooms that they part."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLANTS = {  # file -> the module that it must not import
    "evaluator/versions/registry.py": "evaluator.views.comparators",
    "evaluator/comparator/__init__.py": "evaluator.metrics.registry",
    "evaluator/metaevaluation/__init__.py": "evaluator.judges.language_model",
    "evaluator/judges/texts.py": "evaluator.comparator.examples",
    "leaderboard/boards/__init__.py": "leaderboard.views.board",
    "leaderboard/access.py": "leaderboard.tournaments.start",
    "annotation/health.py": "annotation.assessment.assess",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> subprocess.CompletedProcess:
    """What import-linter says of a copy with all plants."""
    copy = tmp_path_factory.mktemp("planted")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    for app in settings["root_packages"]:
        shutil.copytree(ROOT / app, copy / app, ignore=shutil.ignore_patterns("__pycache__", "data/*.json"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    for file, forbidden in PLANTS.items():
        path = copy / file
        path.write_text(f"{path.read_text(encoding='utf-8')}\nimport {forbidden}\n", encoding="utf-8")
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=300)


def test_the_planted_copy_fails(report):
    assert report.returncode == 1, report.stdout + report.stderr


@pytest.mark.parametrize("file", PLANTS)
def test_a_planted_import_is_named(report, file):
    importer = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    said = re.sub(r"\s+", " ", report.stdout)
    assert f"{importer} -> {PLANTS[file]} (l." in said, report.stdout


def test_no_rooms_import_each_other_in_a_circle():
    counted = subprocess.run([sys.executable, ROOT / "scripts/rooms"], cwd=ROOT, capture_output=True, text=True, timeout=300)
    lines = counted.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["annotation", "evaluator", "leaderboard"], counted.stderr
    assert [line for line in lines if not line.endswith(", 0 circles")] == []

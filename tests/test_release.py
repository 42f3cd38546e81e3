"""What a release says of itself, in several files, is the same; and its files hold what readers of a release look for."""

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml

from core.version import VERSION

ROOT = Path(__file__).parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yaml").read_text())
MOST_WORDS = 40


def versions() -> list[tuple[str, date]]:
    return [(name, date.fromisoformat(day)) for name, day in re.findall(r"(?m)^## \[([\d.]+)\] - (\S+)$", CHANGELOG)]


def entries() -> list[str]:
    """What stands in a list of the changelog, each on one line."""
    return [" ".join(entry.split()) for entry in re.findall(r"(?ms)^- (.+?)(?=^- |^#|^\*\*|^$|\Z)", CHANGELOG)]


def test_all_files_name_the_same_release():
    assert versions()[0] == (VERSION, CITATION["date-released"])
    assert CITATION["version"] == VERSION
    client = tomllib.loads((ROOT / "clients/pyproject.toml").read_text())["project"]
    assert client["version"] == VERSION


def test_versions_come_newest_first():
    numbers = [tuple(map(int, name.split("."))) for name, _ in versions()]
    assert len(numbers) >= 2 and numbers == sorted(set(numbers), reverse=True)


def test_an_entry_is_short():
    assert len(entries()) == len(re.findall(r"(?m)^- ", CHANGELOG)) > 50
    assert [entry for entry in entries() if len(entry.split()) >= MOST_WORDS] == []


def test_the_product_is_free_and_the_client_goes_into_anything():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    client = tomllib.loads((ROOT / "clients/pyproject.toml").read_text())["project"]
    assert (project["license"], client["license"]) == (CITATION["license"], "MIT") == ("GPL-3.0-or-later", "MIT")
    assert (ROOT / "LICENSE").read_text().split()[:3] == ["GNU", "GENERAL", "PUBLIC"]
    assert (ROOT / "clients/LICENSE").read_text().startswith("MIT License")
    files = tomllib.loads((ROOT / "clients/pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    for file in files["only-include"]:
        assert (ROOT / "clients" / file).read_text().startswith("# SPDX-License-Identifier: MIT\n")


def test_ci_runs_what_anybody_can_run():
    commands = [step["run"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "run" in step]
    assert commands == ["make check", "make .venv/dev methods", ".ci/run"] and (ROOT / ".ci/run").stat().st_mode & 0o111


def test_hooks_before_a_commit_use_the_project_s_own_programs():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    lint = re.search(r"(?ms)^lint:.*?\n(.+?)\n\n", (ROOT / "Makefile").read_text())[1]
    assert {hook["language"] for hook in hooks} == {"system"}
    for hook in hooks:
        assert hook["entry"].split()[0].replace(".venv/bin", "$(BIN)") in lint


@pytest.mark.parametrize("target", ["check", "test", "test-sqlite", "test-postgres", "lint"])
def test_the_makefile_has_the_lanes(target):
    assert re.search(rf"(?m)^{target}:.* ## \w", (ROOT / "Makefile").read_text())


def test_security_names_this_version():
    major, minor, _ = VERSION.split(".")
    assert f"| {major}.{minor} | yes |" in (ROOT / "SECURITY.md").read_text()

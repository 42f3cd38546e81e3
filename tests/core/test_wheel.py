"""The wheel: what it holds, and that what it holds runs outside the checkout. It is built as `pip wheel` builds it, without a
network, and started with this environment's packages."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from core.version import PRODUCT, VERSION, digest

ROOT = Path(__file__).parents[2]
pytest.importorskip("hatchling", reason="hatchling builds the wheel (requirements-dev.txt)")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = f"import hatchling.build as b; print(b.build_wheel({str(folder)!r}))"
    subprocess.run([sys.executable, "-c", build], cwd=ROOT, capture_output=True, check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def comparena(wheel, tmp_path_factory):
    """A function: words of the command -> what it printed, from the wheel unpacked into an empty folder."""
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(folder)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "DJANGO_", "DATA"))}
    environment |= {"PYTHONPATH": str(folder), "XDG_DATA_HOME": str(folder / "home")}

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "comparena", *words]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def canonical(requirement: str) -> str:
    return requirement.lower().replace("_", "-")


def tracked() -> set[str]:
    """What git has of the product, and new files that it does not ignore."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *PRODUCT]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split() if (ROOT / name).is_file()}


def test_it_holds_the_whole_product_in_one_folder(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    about = f"comparena-{VERSION}.dist-info/"
    assert {name.split("/")[0] for name in names} == {"comparena", about.strip("/")}
    tree = {name.removeprefix("comparena/tree/") for name in names if name.startswith("comparena/tree/")}
    assert tree == tracked() and {"templates/base.html", "locale/de/LC_MESSAGES/django.mo", "static/comparena.css"} <= tree
    assert {name for name in names if name.startswith(about)} >= {about + "entry_points.txt", about + "licenses/LICENSE"}


def test_it_asks_for_the_packages_of_the_requirements(wheel):
    text = zipfile.ZipFile(wheel).read(f"comparena-{VERSION}.dist-info/METADATA").decode()
    asked = {canonical(one) for one in re.findall(r"(?m)^Requires-Dist: (.+)$", text)}
    named = {canonical(line) for line in (ROOT / "requirements.txt").read_text().splitlines() if line and line[0] != "#"}
    assert named < asked and asked - named == {"mozilla-django-oidc; extra == 'oidc'", "pyarrow; extra == 'parquet'"}
    assert "License-Expression: GPL-3.0-or-later" in text


def test_it_names_its_code(comparena):
    assert comparena("--version") == f"comparena {VERSION}+files.{digest()}\n"


def test_it_runs_and_keeps_its_data_with_the_user(comparena, tmp_path_factory):
    assert "--demo-for-everybody" in comparena("demo", "--help")
    kept = next(tmp_path_factory.getbasetemp().glob("installed*/home/comparena"))
    assert (kept / "broker").is_dir() and (kept.stat().st_mode & 0o777) == 0o700

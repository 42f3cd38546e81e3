"""What published numbers say of the code that made them: in a checkout, in one of another user, in an image, in a wheel."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core import version

ROOT = Path(__file__).parents[2]
ASK = [sys.executable, "-c", "from core.version import code_version; print(code_version())"]


def run(folder: Path, *words: str, **environment: str) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | environment
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=True).stdout.strip()


def git(folder: Path, *words: str) -> str:
    return run(folder, "git", "-c", "user.name=Alice", "-c", "user.email=alice@example.org", *words)


def shell_digest(folder: Path) -> str:
    """What core.version's docstring says that a shell says."""
    command = re.search(r"(?m)^    (find .*\n.*)$", version.digest.__doc__)[1].replace("\\\\", "\\")
    return run(folder, "bash", "-c", command)[:12]


@pytest.fixture
def copy(tmp_path):
    """A small product in a folder of its own, with this version's module; no repository."""
    for part in version.PRODUCT:
        (tmp_path / part).mkdir()
        (tmp_path / part / "one.py").write_text(f"# {part}\n")
    shutil.copy(version.__file__, tmp_path / "core" / "version.py")
    return tmp_path


@pytest.fixture
def checkout(copy):
    git(copy, "init", "-q")
    (copy / ".gitignore").write_text("__pycache__/\n")
    git(copy, "add", ".")
    git(copy, "commit", "-qm", "Begin")
    return copy


def test_the_version_is_written_once():
    pyproject = (ROOT / "pyproject.toml").read_text()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version.VERSION) and version.VERSION not in pyproject
    assert version.code_version().startswith(f"{version.VERSION}+") and len(version.code_version()) <= 60


def test_a_checkout_is_named_by_its_commit(checkout):
    assert run(checkout, *ASK) == f"{version.VERSION}+{git(checkout, 'rev-parse', 'HEAD')[:10]}"


def test_one_of_another_user_too(checkout):
    """As in the recipe for systemd: root made it, the service's user runs it."""
    strange = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run(checkout, "git", "status", **strange)
    assert "dubious ownership" in refused.value.stderr
    assert run(checkout, *ASK, **strange) == f"{version.VERSION}+{git(checkout, 'rev-parse', 'HEAD')[:10]}"


@pytest.mark.parametrize("file", ["annotation/one.py", "leaderboard/new.py"])
def test_a_checkout_that_was_changed_says_so_and_names_its_files(checkout, file):
    (checkout / file).write_text("# changed\n")
    commit = git(checkout, "rev-parse", "HEAD")[:10]
    assert run(checkout, *ASK) == f"{version.VERSION}+{commit}.dirty.{shell_digest(checkout)}"


def test_what_is_not_the_product_changes_nothing(checkout):
    (checkout / "notes.txt").write_text("mine")
    assert "dirty" not in run(checkout, *ASK)


def test_a_copy_is_named_by_its_files(copy):
    assert run(copy, *ASK) == f"{version.VERSION}+files.{shell_digest(copy)}"
    before = run(copy, *ASK)
    run(copy, sys.executable, "-m", "compileall", "-q", ".")
    assert (copy / "core" / "__pycache__").is_dir() and before == run(copy, *ASK)
    (copy / "templates" / "one.py").write_text("# changed\n")
    assert run(copy, *ASK) != before


@pytest.mark.parametrize("without", ["a repository", "git"])
def test_a_copy_within_a_repository_of_others_is_not_named_by_theirs(checkout, without):
    """A wheel in the environment of somebody's own project; and a checkout where there is no git."""
    inner = checkout if without == "git" else checkout / "site-packages"
    if without == "a repository":
        for part in version.PRODUCT:
            shutil.copytree(checkout / part, inner / part, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {"PATH": "/nowhere"} if without == "git" else {"GIT_DIR": str(checkout / ".git")}
    assert run(inner, *ASK, **environment) == f"{version.VERSION}+files.{shell_digest(inner)}"


def test_the_image_is_named_by_its_files(tmp_path):
    """Dockerfile: `COPY . .` of what .dockerignore lets in, then compiled."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    for name in (line[1:] for line in lines if line.startswith("!")):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    run(tmp_path, sys.executable, "-m", "compileall", "-q", "core")
    assert run(tmp_path, *ASK) == f"{version.VERSION}+files.{shell_digest(ROOT)}"

"""The version of this code, as published numbers name it."""

import hashlib
import os
import subprocess
from functools import cache
from pathlib import Path

VERSION = "0.2.0"  # its one place: pyproject.toml reads it here

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("annotation", "config", "core", "evaluator", "leaderboard", "locale", "static", "templates")
ELSEWHERE = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"}  # another repository's


@cache
def code_version() -> str:
    """The package's version, and what names its code: what a published number was made with.

    0.2.0+81241e2ab9                       a checkout, at this commit
    0.2.0+81241e2ab9.dirty.5f0c1d2e3a4b    a checkout that was changed since: the digest of its files
    0.2.0+files.5f0c1d2e3a4b               an image, a wheel, a copy: the digest of their files

    It is kept, and servers ask when they start: files that are changed under a running process are not what it runs.
    """
    commit = _git("rev-parse", "--short=10", "HEAD") if (ROOT / ".git").exists() else None
    if not commit:
        return f"{VERSION}+files.{digest()}"
    changes = _git("status", "--porcelain", "--", *PRODUCT)
    return f"{VERSION}+{commit}" if changes == "" else f"{VERSION}+{commit}.dirty.{digest()}"


def digest() -> str:
    """The first 12 digits of the SHA-256 of the product's files, wherever they lie; a shell says the same:

    find annotation config core evaluator leaderboard locale static templates -type f ! -name '*.pyc' |
        LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum
    """
    files = [path for part in PRODUCT for path in (ROOT / part).rglob("*") if path.is_file() and path.suffix != ".pyc"]
    named = sorted((path.relative_to(ROOT).as_posix(), path) for path in files)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in named]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:12]


def _git(*words: str) -> str | None:
    """What git prints; None where it can't tell. A checkout may belong to another user: its code runs here already."""
    command = ["git", "-C", str(ROOT), "-c", "safe.directory=*", "--no-optional-locks", *words]
    environment = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()

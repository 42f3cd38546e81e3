"""Writes the tables of a page of docs/results/ anew: python -m benchmarks.results docs/results/camps.md [--only TEXT]

A page says between two marks which command made a table: from `<!-- made by: benchmarks.metrics -->` to `<!-- end -->`. What
the command prints stands there, below the command itself, the version of the code, and the date. A mark `made at COMMIT by:`
names a benchmark that is no longer here: it is taken from that commit, and measures today's code all the same. By hand:

    python -m benchmarks.results --at COMMIT benchmarks.camps 220
"""

import argparse
import io
import os
import re
import shlex
import subprocess
import sys
import tarfile
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from core.version import ROOT, code_version

MARK = re.compile(r"<!-- (made (?:at (\w+) )?by: (.+?)) -->")  # what it is called, the commit, the command


def between(document: str, name: str, text: str) -> str:
    """The document with this text between the marks of this name. Raises ValueError where there are none."""
    start, end = f"<!-- {name} -->", "<!-- end -->"
    marked = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    if not marked.search(document):
        raise ValueError(f"The document has no table {name!r}.")
    return marked.sub(lambda _: f"{start}\n{text}\n{end}", document, count=1)


def commands(document: str) -> list[tuple[str, str, str]]:
    """(name of the mark, commit or nothing, command)"""
    return MARK.findall(document)


def markdown(output: str) -> str:
    """What a command printed, with an empty line above each table and a line below its head where the command left them out."""
    whole = [""]
    for line in output.strip().splitlines():
        if line.startswith("|") and not whole[-1].startswith("|"):
            whole += [""] if whole[-1] else []
        elif line.startswith("|") and not whole[-2].startswith("|") and not re.fullmatch(r"[|\s:-]+", line):
            whole.append("|" + "---|" * (whole[-1].count("|") - 1))
        whole.append(line)
    return "\n".join(whole[1:])


def made(command: str, commit: str = "") -> str:
    """What stands between the marks. Raises CalledProcessError where the command fails."""
    said = f"`{command}` of commit {commit}" if commit else f"`python -m {command}`"
    output = run(shlex.split(command), commit)
    return f"{said}, version {code_version()}, {datetime.now(UTC):%Y-%m-%d}.\n\n{markdown(output)}"


def run(command: list[str], commit: str = "") -> str:
    """What it prints. The benchmarks of a commit are found before today's, all else is today's."""
    with TemporaryDirectory() as folder:
        words, env = [sys.executable, "-m", *command], dict(os.environ)
        if commit:
            with tarfile.open(fileobj=io.BytesIO(archived(commit))) as files:
                files.extractall(folder, filter="data")
            (Path(folder) / "manage.py").symlink_to(ROOT / "manage.py")  # by which benchmarks of load start servers
            words, env["PYTHONPATH"] = [words[0], "-P", *words[1:]], f"{folder}{os.pathsep}{ROOT}"
        return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env=env).stdout


def archived(commit: str) -> bytes:
    """The benchmarks of a commit, as tar."""
    command = ["git", "archive", commit, "benchmarks"]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout


def main(args: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results", description=__doc__)
    parser.add_argument("page", type=Path, nargs="?")
    parser.add_argument("--only", default="", help="commands that contain this")
    parser.add_argument("--at", nargs=argparse.REMAINDER, help="COMMIT COMMAND: print what a benchmark of this commit says")
    options = parser.parse_args(args)
    if options.at:
        print(run(options.at[1:], options.at[0]), end="")
        return 0
    asked = [mark for mark in commands(options.page.read_text(encoding="utf-8")) if options.only in mark[2]]
    if not asked:
        parser.error(f"{options.page} has no command that contains {options.only!r}.")
    for name, commit, command in asked:
        text = made(command, commit)  # may take hours: the page is read again afterwards
        options.page.write_text(between(options.page.read_text(encoding="utf-8"), name, text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes the tables of a page of docs/results/ anew: python -m benchmarks.results docs/results/verdict.md [--only TEXT]

A page says between two marks which command made a table: from `<!-- made by: benchmarks.verdict --campaigns 200 -->` to
`<!-- end -->`. What the command prints stands there, below the command itself, the version of the code, and the date.
"""

import argparse
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from core.version import code_version

MARK = "made by: "


def between(document: str, name: str, text: str) -> str:
    """The document with this text between the marks of this name. Raises ValueError where there are none."""
    start, end = f"<!-- {name} -->", "<!-- end -->"
    marked = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    if not marked.search(document):
        raise ValueError(f"The document has no table {name!r}.")
    return marked.sub(lambda _: f"{start}\n{text}\n{end}", document, count=1)


def commands(document: str) -> list[str]:
    return re.findall(f"<!-- {MARK}(.+?) -->", document)


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


def made(command: str) -> str:
    """What stands between the marks. Raises CalledProcessError where the command fails."""
    done = subprocess.run([sys.executable, "-m", *command.split()], check=True, stdout=subprocess.PIPE, text=True)
    return f"`python -m {command}`, version {code_version()}, {datetime.now(UTC):%Y-%m-%d}.\n\n{markdown(done.stdout)}"


def main(args: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results", description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--only", default="", help="commands that contain this")
    options = parser.parse_args(args)
    asked = [command for command in commands(options.page.read_text(encoding="utf-8")) if options.only in command]
    if not asked:
        parser.error(f"{options.page} has no command that contains {options.only!r}.")
    for command in asked:
        text = made(command)  # may take hours: the page is read again afterwards
        options.page.write_text(between(options.page.read_text(encoding="utf-8"), MARK + command, text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The command `comparena`: manage.py of an installed Comparena, or of this checkout."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE / "tree" if (HERE / "tree").is_dir() else HERE.parent  # a wheel carries everything else in tree/
WITHOUT_SERVER = ("gate", "check_judge", "doctor", "watch_run", "train_generator")  # they read files: no settings, no database


def _reproduce(words: list[str]) -> int:
    """The papers' studies lie beside the product, in a checkout alone."""
    if not (TREE / "benchmarks" / "studies").is_dir():
        print("comparena reproduce needs the source: run it in a checkout of the repository.", file=sys.stderr)
        return 2
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")  # `--campaign` reads one
    from benchmarks.studies.__main__ import main as reproduce

    return reproduce(words)


def main() -> None:
    """Run what the words on the command line say, with `core`, `config` and the rest importable in this process alone."""
    if str(TREE) not in sys.path:
        sys.path.insert(0, str(TREE))
    words = sys.argv[1:]
    if words in (["--version"], ["version"]):
        from core.version import code_version

        print(f"comparena {code_version()}")
        return
    if words and words[0] in WITHOUT_SERVER:
        from leaderboard.offline.commands import main as without_server

        sys.exit(without_server(words))
    if words[:1] == ["reproduce"]:
        sys.exit(_reproduce(words[1:]))
    if words in ([], ["help"], ["--help"], ["-h"]):
        from leaderboard.offline.commands import summary

        print(summary(), end="\n\n", flush=True)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)

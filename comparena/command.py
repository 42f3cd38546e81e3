"""The command `comparena`: manage.py of an installed Comparena, or of this checkout."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE / "tree" if (HERE / "tree").is_dir() else HERE.parent  # a wheel carries everything else in tree/


def main() -> None:
    """Run what the words on the command line say, with `core`, `config` and the rest importable in this process alone."""
    if str(TREE) not in sys.path:
        sys.path.insert(0, str(TREE))
    if sys.argv[1:] in (["--version"], ["version"]):
        from core.version import code_version

        print(f"comparena {code_version()}")
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)

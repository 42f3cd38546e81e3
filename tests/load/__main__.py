"""The load benchmark: bounded, on loopback, against real servers that it starts and stops.

storm    annotators judge one campaign until it is done, with double clicks, cut connections, requests sent again and
         answers that come late; afterwards the database is checked
versus   page + judgment in a closed loop, then paced, against Potato in the same run
log-ins  people who sign in with a password all at once

    scripts/with_postgres_and_redis .venv/bin/python -m tests.load storm --annotators 40 --items 1000 -k 3
    .venv/bin/python -m tests.load storm --annotators 10          (SQLite)
    scripts/with_postgres_and_redis .venv/bin/python -m tests.load versus --potato-python POTATO_VENV/bin/python
"""

import argparse
import asyncio
import os
import sys
import tempfile


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("storm", "versus", "log-ins"):
        command = commands.add_parser(name)
        command.add_argument("--annotators", type=int, default=40 if name == "storm" else 50)
        command.add_argument("--items", type=int, default=1000)
        command.add_argument("-k", type=int, default=3)
        command.add_argument("--seed", type=int, default=0)
        if name != "storm":
            command.add_argument("--potato-python", help="python of an environment with potato-annotation and gunicorn")
        if name == "versus":
            command.add_argument("--seconds", type=int, default=30, help="of each part")
            command.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="comparena-load-") as folder:
        os.environ["DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        os.environ.setdefault("LOG_LEVEL", "WARNING")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        from tests.load import runs

        run = {"storm": runs.storm, "versus": runs.versus, "log-ins": runs.log_ins}[options.command]
        return asyncio.run(run(options, folder))


if __name__ == "__main__":
    sys.exit(main())

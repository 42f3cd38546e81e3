"""The load benchmark: bounded, on loopback, against real servers that it starts and stops.

storm    annotators judge one campaign until it is done, with double clicks, cut connections, requests sent again and
         answers that come late; afterwards the database is checked
faults   annotators judge and jobs run while the web server, a worker, Redis and PostgreSQL are killed at random; it starts
         a PostgreSQL and a Redis of its own
commits  page + judgment in a closed loop with 10, 50 and 200 annotators, of this checkout and another commit by turns
floor    what a judgment costs beside a bare Django view with one INSERT, under the same gunicorn, by turns
backups  a backup taken while annotators judge, and one after it, restored elsewhere and compared page by page
growth   server time and queries of every page and call, with few answers and with many

    FSYNC=on scripts/with_postgres_and_redis .venv/bin/python -m benchmarks.load storm --annotators 40
    .venv/bin/python -m benchmarks.load storm --annotators 10          (SQLite)
"""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

CROWD = {"annotators": 40, "items": 1000, "k": 3}
OPTIONS = {  # of each command, and what they are if nobody says otherwise
    "storm": CROWD | {"seed": 0},
    "faults": CROWD
    | {"seconds": 300.0, "kills": 6, "seed": 0, "pause": 3.0, "contexts": 600, "pairs": 20_000, "epochs": 4, "server-log": ""},
    "commits": {"annotators": [10, 50, 200], "judgments": 400, "rounds": 4},
    "floor": {"annotators": 20, "judgments": 400, "rounds": 5},
    "backups": {"annotators": 10, "items": 200, "k": 3},
    "growth": {"items": 100_000, "only": "", "few": 100, "folder": ""},
}
HELP = {
    "seed": "draws the mishaps, and what is killed when",
    "kills": "of the web server, a worker, Redis and PostgreSQL each",
    "pause": "seconds that a judgment takes somebody, on average",
    "contexts": "of the tournament; four outputs each",
    "pairs": "of the judging job",
    "epochs": "of the training",
    "server-log": "keep what the server and its workers tell in this file",
    "judgments": "a round; of commits at least five for each annotator, of floor's bare view four times as many rows",
    "only": "pages whose address has this (a regular expression)",
    "few": "items of the campaign beside it",
    "folder": "keep the database of SQLite there, and use it where it is",
}


def options() -> argparse.Namespace:
    formatter = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__, formatter_class=formatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, defaults in OPTIONS.items():
        command = commands.add_parser(name)
        if name == "commits":
            command.add_argument("commit", help="what this checkout is compared with")
        for option, default in defaults.items():
            flag, several = "-k" if option == "k" else f"--{option}", isinstance(default, list)
            kind, number = type(default[0] if several else default), "+" if several else None
            command.add_argument(flag, type=kind, nargs=number, default=default, help=HELP.get(option))
    return parser.parse_args()


def stop(number: int, frame) -> None:
    """End as after an error: servers, databases and folders are taken down on the way out. `timeout` asks twice."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + number)


def main() -> int:
    chosen = options()
    signal.signal(signal.SIGTERM, stop)
    with ExitStack() as stack:
        if chosen.command == "faults":
            from benchmarks.load import services

            chosen.services = database, broker = stack.enter_context(services.postgres_and_redis())
            os.environ |= {"DATABASE_URL": database.url, "BROKER_URL": broker.url}
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="comparena-load-"))
        os.environ["DATA_DIR"] = getattr(chosen, "folder", "") or folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        os.environ.setdefault("LOG_LEVEL", "WARNING")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        run = getattr(import_module(f"benchmarks.load.{chosen.command}"), chosen.command)
        return asyncio.run(run(chosen, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())

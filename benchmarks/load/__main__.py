"""The load benchmark: bounded, on loopback, against real servers that it starts and stops.

storm    annotators judge one campaign until it is done, with double clicks, cut connections, requests sent again and
         answers that come late; afterwards the database is checked
versus   page + judgment paced, then in a closed loop until the work is done; the same with Potato where its python is given
log-ins  people who sign in with a password all at once
judging  a file of pairs judged by one worker and by two
waits    how long a calculation waits while a training runs on the embedded default

    FSYNC=on scripts/with_postgres_and_redis .venv/bin/python -m benchmarks.load storm --annotators 40
    .venv/bin/python -m benchmarks.load storm --annotators 10          (SQLite)
    FSYNC=on scripts/with_postgres_and_redis .venv/bin/python -m benchmarks.load versus --potato-python POTATO_VENV/bin/python
"""

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path


def options() -> argparse.Namespace:
    formatter = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__, formatter_class=formatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("storm", "versus", "log-ins"):
        command = commands.add_parser(name)
        command.add_argument("--annotators", type=int, default=40 if name == "storm" else 50)
        if name == "log-ins":
            command.add_argument("--rounds", type=int, default=3)
        else:
            command.add_argument("--items", type=int, default=1000)
            command.add_argument("-k", type=int, default=3)
        if name == "storm":
            command.add_argument("--seed", type=int, default=0, help="draws the mishaps")
        else:
            command.add_argument("--potato-python", help="of an environment with potato-annotation and gunicorn")
        if name == "versus":
            command.add_argument("--paced-seconds", type=int, default=30)
            command.add_argument("--without-script", action="store_false", dest="with_script", help="plain forms, in ours")
    judging = commands.add_parser("judging")
    judging.add_argument("--pairs", type=int, default=200_000)
    judging.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    judging.add_argument("--repeats", type=int, default=2)
    waits = commands.add_parser("waits")
    waits.add_argument("--repeats", type=int, default=10)
    waits.add_argument("--pause", type=float, default=1.0, help="seconds between them")
    return parser.parse_args()


def main() -> int:
    chosen = options()
    with tempfile.TemporaryDirectory(prefix="comparena-load-") as folder:
        os.environ["DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        os.environ.setdefault("LOG_LEVEL", "WARNING")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        from benchmarks.load import calculation_wait, comparison, storm, worker_numbers

        runs = {"storm": storm.storm, "versus": comparison.versus, "log-ins": comparison.log_ins}
        run = {**runs, "judging": worker_numbers.judging, "waits": calculation_wait.waits}[chosen.command]
        return asyncio.run(run(chosen, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())

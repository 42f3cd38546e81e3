"""The load benchmark: bounded, on loopback, against real servers that it starts and stops.

storm    annotators judge one campaign until it is done, with double clicks, cut connections, requests sent again and
         answers that come late; afterwards the database is checked
versus   page + judgment paced, then in a closed loop until the work is done; the same with Potato where its python is given
faults   annotators judge and jobs run while the web server, a worker, Redis and PostgreSQL are killed at random; it starts
         a PostgreSQL and a Redis of its own
commits  page + judgment in a closed loop with 10, 50 and 200 annotators, of this checkout and another commit by turns
floor    what a judgment costs beside a bare Django view with one INSERT, under the same gunicorn, by turns
backups  a backup taken while annotators judge, and one after it, restored elsewhere and compared page by page
log-ins  people who sign in with a password all at once
judging  a file of pairs judged by one worker and by two
growth   server time and queries of every page and call, with few answers and with many
waits    how long a calculation waits while a training runs on the embedded default

    FSYNC=on scripts/with_postgres_and_redis .venv/bin/python -m benchmarks.load storm --annotators 40
    .venv/bin/python -m benchmarks.load storm --annotators 10          (SQLite)
    FSYNC=on scripts/with_postgres_and_redis .venv/bin/python -m benchmarks.load versus --potato-python POTATO_VENV/bin/python
"""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from contextlib import ExitStack
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
    faults = commands.add_parser("faults")
    faults.add_argument("--seconds", type=float, default=300)
    faults.add_argument("--kills", type=int, default=6, help="of the web server, a worker, Redis and PostgreSQL each")
    faults.add_argument("--seed", type=int, default=0, help="draws what is killed when")
    faults.add_argument("--annotators", type=int, default=40)
    faults.add_argument("--items", type=int, default=1000)
    faults.add_argument("-k", type=int, default=3)
    faults.add_argument("--pause", type=float, default=3.0, help="seconds that a judgment takes somebody, on average")
    faults.add_argument("--contexts", type=int, default=600, help="of the tournament; four outputs each")
    faults.add_argument("--pairs", type=int, default=20_000, help="of the judging job")
    faults.add_argument("--epochs", type=int, default=4, help="of the training")
    faults.add_argument("--server-log", type=Path, help="keep what the server and its workers tell in this file")
    backups = commands.add_parser("backups")
    backups.add_argument("--annotators", type=int, default=10)
    backups.add_argument("--items", type=int, default=200)
    backups.add_argument("-k", type=int, default=3)
    commits = commands.add_parser("commits")
    commits.add_argument("commit", help="what this checkout is compared with")
    commits.add_argument("--annotators", type=int, nargs="+", default=[10, 50, 200])
    commits.add_argument("--judgments", type=int, default=400, help="a round; at least five for each annotator")
    commits.add_argument("--rounds", type=int, default=4)
    floor = commands.add_parser("floor")
    floor.add_argument("--annotators", type=int, default=20)
    floor.add_argument("--judgments", type=int, default=400, help="a round; of the bare view four times as many rows")
    floor.add_argument("--rounds", type=int, default=5)
    judging = commands.add_parser("judging")
    judging.add_argument("--pairs", type=int, default=200_000)
    judging.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    judging.add_argument("--repeats", type=int, default=2)
    growth = commands.add_parser("growth")
    growth.add_argument("--items", type=int, default=100_000, help="ten answers each")
    growth.add_argument("--only", default="", help="pages whose address has this (a regular expression)")
    growth.add_argument("--few", type=int, default=100, help="items of the campaign beside it")
    growth.add_argument("--folder", help="keep the database of SQLite there, and use it where it is")
    waits = commands.add_parser("waits")
    waits.add_argument("--repeats", type=int, default=10)
    waits.add_argument("--pause", type=float, default=1.0, help="seconds between them")
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
        os.environ["DATA_DIR"] = getattr(chosen, "folder", None) or folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        os.environ.setdefault("LOG_LEVEL", "WARNING")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        from benchmarks.load import (
            backups,
            calculation_wait,
            commits,
            comparison,
            faults,
            floor,
            page_growth,
            storm,
            worker_numbers,
        )

        runs = {
            "storm": storm.storm,
            "versus": comparison.versus,
            "log-ins": comparison.log_ins,
            "faults": faults.faults,
            "commits": commits.commits,
            "floor": floor.floor,
            "backups": backups.backups,
            "judging": worker_numbers.judging,
            "growth": page_growth.growth,
            "waits": calculation_wait.waits,
        }
        run = runs[chosen.command]
        return asyncio.run(run(chosen, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())

"""The server of this checkout and that of another commit, measured by turns in the same run, with 10, 50 and 200 annotators.

The other commit is taken out of git into a temporary folder and runs in the same Python environment, on a database and with a
Redis database of its own. Both servers stand all the time; only one at a time has work.
"""

import asyncio
import io
import os
import statistics
import subprocess
import sys
import tarfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import dj_database_url
import psycopg
from django.db import connection

from benchmarks.load import servers
from benchmarks.load.browser import Browser, Timings
from benchmarks.load.people import ComparenaPerson

OVERLAP = 3
# Run in a checkout: makes the campaign that is judged by that checkout's own services, and prints its invitation's token.
PREPARE = """
import sys, django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from benchmarks.load import campaign
print(campaign.make(int(sys.argv[1]), int(sys.argv[2]), False)[1])
"""


@dataclass
class Side:
    """One of the two, and what was measured of it with one number of annotators."""

    name: str
    server: servers.Server
    token: str
    crowd: list = field(default_factory=list)
    rates: list[float] = field(default_factory=list)  # judgments a second, by rounds
    cpu: list[float] = field(default_factory=list)  # milliseconds of the server a judgment, by rounds
    others: list[list[float]] = field(default_factory=list)  # as spent has them, in milliseconds a judgment, by rounds
    timings: Timings = field(default_factory=Timings)

    async def join(self, first: int, size: int) -> None:
        browsers = [Browser(servers.HOST, self.server.port, Timings()) for _ in range(size)]
        self.crowd = [ComparenaPerson(browser, first + n, self.token) for n, browser in enumerate(browsers)]
        self.forget()
        for person in self.crowd:
            await person.join()

    def forget(self) -> None:
        self.rates, self.cpu, self.others, self.timings = [], [], [], Timings()

    async def round(self, judgments: int) -> None:
        before, begin = await asyncio.to_thread(self.spent), time.perf_counter()
        timings = await work(self.crowd, judgments)
        judged, seconds = len(timings.seconds["judgment"]), time.perf_counter() - begin
        server, *others = (1000 * (b - a) / judged for a, b in zip(before, await asyncio.to_thread(self.spent), strict=True))
        self.rates.append(judged / seconds)
        self.cpu.append(server)
        self.others.append(others)
        self.timings.extend(timings)

    def spent(self) -> tuple[float, ...]:
        """CPU seconds so far: of the server, of PostgreSQL, of this process; and what the cores were idle."""
        return self.server.cpu_seconds(), servers.database_cpu_seconds(), time.process_time(), servers.idle_seconds()

    def line(self) -> str:
        rate, cpu = statistics.median(self.rates), statistics.median(self.cpu)
        rates = ", ".join(f"{one:.1f}" for one in self.rates)
        p95 = self.timings.quantile("judgment", 0.95)
        database, own, idle = (statistics.median(values) for values in zip(*self.others, strict=True))
        beside = f"beside it PostgreSQL {database:.2f}, these annotators {own:.2f}, cores idle {idle:.2f}"
        return f"  {self.name:<14} {rate:7.1f} judgments/s ({rates}); p95 {p95:6.0f} ms; {cpu:5.2f} ms CPU a judgment; {beside}"


async def work(crowd: list, judgments: int, seconds: float = 300, every: float = 0.0) -> Timings:
    """Judgments, each with the page of the next item, until the time is over or so many are sent."""
    timings, end, left = Timings(), time.perf_counter() + seconds, [judgments]

    async def judge(person) -> None:
        person.browser.timings = timings
        await asyncio.sleep(person.random.uniform(0, every))
        answer = await person.page()
        while answer and time.perf_counter() < end and left[0] > 0:
            left[0] -= 1
            begin = time.perf_counter()
            answer = await person.judge(answer)
            await asyncio.sleep(max(0.0, every - (time.perf_counter() - begin)))

    await asyncio.gather(*(judge(person) for person in crowd))
    return timings


async def commits(options, folder: Path) -> int:
    rounds = {size: max(options.judgments, 5 * size) for size in options.annotators}
    items = 4 * (sum(rounds.values()) * (options.rounds + 1) // (OVERLAP * 4) + 1)
    with ExitStack() as stack:
        places = {"this checkout": servers.ROOT, options.commit: taken_out(options.commit, folder / "other")}
        sides = [
            _side(stack, name, root, number, folder / f"data{number}", items)
            for number, (name, root) in enumerate(places.items())
        ]
        print(f"{connection.vendor}, {items} items, k = {OVERLAP}, {options.rounds} rounds by turns", flush=True)
        ratios, first = {}, 0
        for size, judgments in rounds.items():
            load = os.getloadavg()[0]
            for side in sides:
                await side.join(first, size)
                await side.round(size)  # warms up
                side.forget()
            for turn in range(options.rounds):
                for side in sides if turn % 2 == 0 else reversed(sides):
                    await side.round(judgments)
            ours, theirs = sides
            rate = statistics.median(a / b for a, b in zip(ours.rates, theirs.rates))
            cpu = statistics.median(a / b for a, b in zip(ours.cpu, theirs.cpu))
            p95 = ours.timings.quantile("judgment", 0.95) / theirs.timings.quantile("judgment", 0.95)
            ratios[size] = rate, p95, cpu
            loads = f"load average {load:.1f} before, {os.getloadavg()[0]:.1f} after"
            print(f"{size} annotators, {judgments} judgments a round; {loads}")
            print(f"{ours.line()}\n{theirs.line()}", flush=True)
            first += size
    print(f"\nthis checkout / {options.commit}: judgments a second (median of the rounds' ratios), p95, CPU a judgment")
    for size, (rate, p95, cpu) in ratios.items():
        print(f"  {size:>4} annotators   {rate:.2f}   {p95:.2f}   {cpu:.2f}")
    return 0


def taken_out(commit: str, folder: Path) -> Path:
    """The files of a commit, in a folder."""
    archive = subprocess.run(["git", "archive", "--format=tar", commit], cwd=servers.ROOT, check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def _side(stack: ExitStack, name: str, root: Path, number: int, data: Path, items: int) -> Side:
    env = os.environ | {"DATA_DIR": str(data), "PYTHONPATH": str(root)}
    if url := os.environ.get("DATABASE_URL"):
        env["DATABASE_URL"] = new_database(url, f"load_{number}")
    if broker := os.environ.get("BROKER_URL"):
        env["BROKER_URL"] = f"{broker.rpartition('/')[0]}/{number + 1}"
    made = [sys.executable, "-c", PREPARE, str(items), str(OVERLAP)]
    token = subprocess.run(made, cwd=root, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
    return Side(name, stack.enter_context(servers.comparena(cwd=root, env=env)), token)


def new_database(url: str, name: str) -> str:
    """A new database on the same PostgreSQL; returns its address."""
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
    return url.removesuffix(dj_database_url.parse(url)["NAME"]) + name

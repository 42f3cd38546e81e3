"""What a judgment costs beside the least that a Django server can do for one: `benchmarks.load.bare`, under the same gunicorn,
on the same database server, by turns in the same run."""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from django.db import connection

from benchmarks.load import campaign, servers
from benchmarks.load.browser import Browser, Timings
from benchmarks.load.commits import OVERLAP, Side, new_database
from leaderboard.management.commands.serve import THREADS, _web_server

PREPARE = "from benchmarks.load import bare; bare.prepare()"


async def floor(options, folder: Path) -> int:
    items = 4 * (options.judgments * (options.rounds + 1) // (OVERLAP * 4) + options.annotators)
    _, token = await asyncio.to_thread(campaign.make, items, OVERLAP, False)
    with ExitStack() as stack:
        ours = Side("judgment", stack.enter_context(_served("config.wsgi", "/login/", os.environ | {})), token)
        bare = stack.enter_context(_served("benchmarks.load.bare", "/", _bare_place(folder)))
        await ours.join(0, options.annotators)
        await ours.round(2 * options.annotators)
        await _store(bare, options.annotators, 2 * options.annotators)
        ours.forget()
        floors, rates = [], []
        for turn in range(options.rounds):
            if turn % 2 == 0:
                await ours.round(options.judgments)
            rate, cpu = await _store(bare, options.annotators, 4 * options.judgments)
            rates.append(rate)
            floors.append(cpu)
            if turn % 2:
                await ours.round(options.judgments)
    ratios = [a / b for a, b in zip(ours.cpu, floors, strict=True)]
    rounds = f"{options.rounds} rounds of {options.judgments} judgments by turns"
    print(f"{connection.vendor}, {options.annotators} annotators, {rounds}")
    print(f"load average at the end {os.getloadavg()[0]:.1f}\n{ours.line()}")
    print(f"  {'bare view':<14} {statistics.median(rates):7.1f} rows/s; {statistics.median(floors):5.2f} ms CPU a row")
    by_rounds = ", ".join(f"{ratio:.1f}" for ratio in ratios)
    print(f"CPU of a judgment / of a bare view with one INSERT: {statistics.median(ratios):.1f} (rounds: {by_rounds})")
    return 0


def _served(application: str, health: str, env: dict):
    """The web server of `manage.py serve`, with another application in it."""
    port = servers.free_port()
    processes = 1 if connection.vendor == "sqlite" else 2
    command = [application if part == "config.wsgi" else part for part in _web_server(servers.HOST, port, processes, THREADS)]
    return servers.running(command, port, health, cwd=servers.ROOT, env=env)


def _bare_place(folder: Path) -> dict:
    """The environment of the bare server, with a database of its own."""
    url, data = os.environ.get("DATABASE_URL"), folder / "bare"
    data.mkdir()
    env = os.environ | {"DATA_DIR": str(data), "PYTHONPATH": str(servers.ROOT)}
    env["DATABASE_URL"] = new_database(url, "load_bare") if url else f"sqlite:///{data}/bare.sqlite3"
    env.pop("DJANGO_SETTINGS_MODULE", None)
    subprocess.run([sys.executable, "-c", PREPARE], cwd=servers.ROOT, env=env, check=True)
    return env


async def _store(server: servers.Server, people: int, rows: int) -> tuple[float, float]:
    """(rows a second, milliseconds of CPU a row)."""
    left = [rows]

    async def one() -> None:
        browser = Browser(servers.HOST, server.port, Timings())
        while left[0] > 0:
            left[0] -= 1
            response = await browser.post("/", {"answer": "x" * 200}, "row")
            assert response.status == 200, response.body[:300]

    cpu, begin = server.cpu_seconds(), time.perf_counter()
    await asyncio.gather(*(one() for _ in range(people)))
    return rows / (time.perf_counter() - begin), 1000 * (server.cpu_seconds() - cpu) / rows

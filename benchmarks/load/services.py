"""A PostgreSQL and a Redis of the run's own, on free ports, which can be killed and started again.

PostgreSQL writes as durably as an installed one (fsync is on by default) and keeps its folder. Redis keeps nothing: the
product's jobs are rows of the database, so no message need outlive it.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import redis

from benchmarks.load.servers import HOST

START_SECONDS = 60
PORTS = range(20_000, 30_000)  # below those that outgoing connections take, which could take a port whose server is killed
USER = "comparena"


class Postgres:
    def __init__(self):
        self.programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))[-1]
        self.folder, self.port = Path(tempfile.mkdtemp(prefix="comparena-postgres-")), free_port()
        self.account = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}  # not root
        if self.account:
            shutil.chown(self.folder, "postgres", "postgres")
        self._run([self.programs / "initdb", "-D", self.folder / "data", "-U", USER, "-A", "trust", "-E", "UTF8"])
        self.start()

    @property
    def url(self) -> str:
        return f"postgres://{USER}@{HOST}:{self.port}/postgres"

    def start(self) -> None:
        """Until it takes connections. Tried again while something of the killed one holds the folder."""
        command = [self.programs / "postgres", "-D", self.folder / "data", "-p", str(self.port), "-k", self.folder]
        command += ["-c", f"listen_addresses={HOST}"]
        end, self.process = time.monotonic() + START_SECONDS, None
        while not self._answers():
            if time.monotonic() > end:
                raise SystemExit(f"PostgreSQL did not start: {(self.folder / 'log').read_text()[-2000:]}")
            if self.process is None or self.process.poll() is not None:
                with (self.folder / "log").open("ab") as log:
                    self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **self.account)
            time.sleep(0.1)

    def kill(self, number: signal.Signals) -> None:
        """SIGKILL of its first process, whose others end when they see it; or SIGQUIT, its immediate shutdown."""
        self.process.send_signal(number)
        self.process.wait()

    def remove(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.url, connect_timeout=2) as connection:
                return connection.execute("SELECT 1").fetchone() == (1,)
        except psycopg.OperationalError:
            return False

    def _run(self, command: list) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/", **self.account)


class Redis:
    def __init__(self):
        self.port = free_port()
        self.start()

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--bind", HOST, "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd="/")
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if time.monotonic() > end:
                raise SystemExit("Redis did not start")
            time.sleep(0.05)

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        self.process.wait()

    def _answers(self) -> bool:
        try:
            with redis.Redis(HOST, self.port) as client:
                return client.ping()
        except redis.ConnectionError:
            return False


def free_port() -> int:
    while True:
        with socket.socket() as probe:
            try:
                probe.bind((HOST, random.choice(PORTS)))
            except OSError:
                continue
            return probe.getsockname()[1]


@contextmanager
def postgres_and_redis() -> Iterator[tuple[Postgres, Redis]]:
    database = Postgres()
    try:
        broker = Redis()
        try:
            yield database, broker
        finally:
            broker.kill()
    finally:
        database.remove()

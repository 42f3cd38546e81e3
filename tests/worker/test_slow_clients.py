"""Strangers who send slowly, send nothing or do not take their answer hold nobody up: directly, and behind the Caddyfile."""

import asyncio
import http.client
import shutil
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.load.browser import Browser, Timings
from benchmarks.load.commits import PREPARE
from benchmarks.load.people import ComparenaPerson
from leaderboard.management.commands.serve import _web_server
from tests.worker.test_serve_killed import answers, wait_until

pytestmark = pytest.mark.one_database
ROOT = Path(__file__).parents[2]
STRANGERS = 50  # of each kind
ROUNDS = 8  # of a probe and a judgment while they are there
BODY = (
    b"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken=%s\r\nContent-Type: application/x-www-form-urlencoded\r\n"
)
SLOW_BODY = BODY % (b"x" * 32) + b"Content-Length: 100000\r\n\r\n"
SLOW_HEADERS = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def process(command, log, env, port):
    with log.open("wb") as told:
        running = subprocess.Popen(command, cwd=ROOT, env=env, stdout=told, stderr=told)
    try:
        wait_until(lambda: answers(port), 600, log.read_text)
        yield running
    finally:
        running.terminate()
        running.wait(60)


@pytest.fixture(params=["one process", "two processes"])
def direct(request, tmp_path, environment):
    """(port, the campaign's invitation)"""
    environment["ALLOWED_HOSTS"] = "127.0.0.1,localhost"
    made = subprocess.run(
        [sys.executable, "-c", PREPARE, "100", "3"], cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    port, processes = free_port(), 1 if request.param == "one process" else 2
    with process(_web_server("127.0.0.1", port, processes, 4), tmp_path / "log", environment, port):
        invitation = made.stdout.split()[-1]
        slowest(port, invitation)  # each process has answered its first request
        yield port, invitation


@contextmanager
def caddy(upstream, tmp_path, environment):
    """Its port."""
    port = free_port()
    version = subprocess.run(["caddy", "version"], capture_output=True, text=True, check=True).stdout.lstrip("v")
    older = tuple(int(part) for part in version.split()[0].split(".")[:2]) < (2, 7)
    env = environment | {"SITE": f"http://127.0.0.1:{port}", "UPSTREAM": f"127.0.0.1:{upstream}", "HOME": str(tmp_path)}
    env |= {"REQUEST_BUFFERS": "buffer_requests"} if older else {}  # the directive's name before 2.7
    with process(["caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"], tmp_path / "caddy.log", env, port):
        yield port


class Strangers:
    """Fifty who drip a header, fifty who drip a body, and fifty who say nothing. They stay until the end, and come back."""

    def __init__(self, port: int):
        self.port, self.stop = port, threading.Event()
        self.connections: list[tuple[socket.socket, bytes]] = []
        self.thread = threading.Thread(target=self.drip, daemon=True)

    def __enter__(self):
        for begin in (SLOW_HEADERS, SLOW_BODY, b""):
            for _ in range(STRANGERS):
                self.connections.append((self.connect(begin), begin))
        time.sleep(0.3)
        self.thread.start()
        return self

    def connect(self, begin: bytes) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=5)
        connection.sendall(begin)
        return connection

    def drip(self):
        while not self.stop.wait(0.5):
            for number, (connection, begin) in enumerate(self.connections):
                try:
                    connection.sendall(b"x" if begin else b"")
                except OSError:
                    self.connections[number] = self.connect(begin), begin

    def __exit__(self, *error):
        self.stop.set()
        self.thread.join()
        for connection, _ in self.connections:
            connection.close()


def probe(port: int) -> tuple[int, float]:
    begin = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/healthz")
    status = connection.getresponse().status
    connection.close()
    return status, time.monotonic() - begin


def slowest(port: int, invitation: str) -> float:
    """Seconds of the slowest probe or judgment of ROUNDS each."""

    async def judge() -> float:
        timings = Timings()
        person = ComparenaPerson(Browser("127.0.0.1", port, timings), 1, invitation)
        await person.join()
        answer = await person.page()
        for _ in range(ROUNDS):
            answer = await person.judge(answer)
        return max(timings.seconds["judgment"])

    probes = [probe(port) for _ in range(ROUNDS)]
    assert {status for status, _ in probes} == {200}
    with ThreadPoolExecutor(1) as thread:  # a browser's test before may have left an event loop in this one
        judgment = thread.submit(asyncio.run, judge()).result()
    return max(judgment, *(seconds for _, seconds in probes))


def test_nobody_waits_for_slow_strangers(direct, tmp_path, environment):
    port, invitation = direct
    with Strangers(port):
        assert slowest(port, invitation) < 1
    if not shutil.which("caddy"):
        pytest.skip("not tried behind Caddy, which is not installed; scripts/install_test_tools installs it")
    with caddy(port, tmp_path, environment) as outside, Strangers(outside):
        assert slowest(outside, invitation) < 1

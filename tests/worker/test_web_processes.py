"""The web processes of `manage.py serve` share their work: who waits is answered by any process with a free thread."""

import http.client
import socket
import subprocess
from pathlib import Path

import pytest

from leaderboard.management.commands.serve import _web_server
from tests.worker.test_serve_killed import answers, wait_until

ROOT = Path(__file__).parents[2]
REQUESTS = 8


@pytest.fixture
def port(tmp_path, environment):
    """Of two processes with one thread each."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(_web_server("127.0.0.1", port, 2, 1), cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        wait_until(lambda: answers(port), 600, lambda: (tmp_path / "log").read_text())
        assert status(port) == 200  # a process has started, and not only its socket
        yield port
    finally:
        process.terminate()
        process.wait(60)


def status(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/healthz")
    return connection.getresponse().status


def test_nobody_waits_for_a_busy_process_while_another_is_free(port):
    """Half a request keeps one of the two threads busy. Whoever came to its process would never be answered."""
    with socket.create_connection(("127.0.0.1", port)) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert [status(port) for _ in range(REQUESTS)] == [200] * REQUESTS

"""`manage.py serve` as a real process that is killed: nothing of it stays behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def serve(tmp_path, environment):
    """serve(port): (the process, its port), once it answers. Whatever is left of it goes at the end."""
    started = []

    def start(port=0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            port = probe.getsockname()[1]
        log = (tmp_path / "log").open("wb")
        command = [sys.executable, "manage.py", "serve", "--port", str(port)]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        started.append((process, []))
        wait_until(lambda: answers(port), 600, lambda: (tmp_path / "log").read_text())
        started[-1][1].extend(descendants(process.pid))
        return process, port

    yield start
    for process, children in started:
        for pid in [process.pid, *children]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def descendants(pid: int) -> list[int]:
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in (line.split() for line in table.splitlines())}
    found = [pid]
    for parent in found:
        found += [child for child, its in parents.items() if its == parent]
    return found[1:]


def alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")  # a zombie has ended; nobody has asked for its status yet


def wait_until(condition, seconds, why=str):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, why()
        time.sleep(0.1)


def test_killed_it_leaves_no_process_and_no_port(serve):
    process, port = serve()
    wait_until(lambda: len(descendants(process.pid)) >= 4, 600)  # the web server and the worker, each with a child
    children = descendants(process.pid)
    process.kill()
    process.wait()
    wait_until(lambda: not any(map(alive, children)), 120, lambda: [pid for pid in children if alive(pid)])
    assert not answers(port)

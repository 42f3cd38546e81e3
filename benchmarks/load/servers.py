"""The server, started as its operators start it, on a free port of this machine."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from core.parent import signalled_at_death_of

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
START_SECONDS = 60


class Server:
    def __init__(self, process: subprocess.Popen, port: int, start_seconds: float):
        self.process, self.port, self.start_seconds = process, port, start_seconds

    def memory(self) -> float:
        """MB that the process and its children hold, pages they share counted once (Pss)."""
        return sum(_pss(pid) for pid in _family(self.process.pid)) / 1024

    def cpu_seconds(self) -> float:
        """User and system time of the process and its children so far."""
        return family_cpu_seconds(self.process.pid)


def family_cpu_seconds(pid: int) -> float:
    """User and system time of a process and its children so far."""
    return sum(_ticks(one) for one in _family(pid)) / os.sysconf("SC_CLK_TCK")


def database_cpu_seconds() -> float:
    """User and system time so far of the PostgreSQL on this machine, of its processes that ended too; 0 with SQLite."""
    from django.db import connection

    if connection.vendor == "sqlite":
        return 0.0
    connection.ensure_connection()
    first = int(_stat(connection.connection.info.backend_pid)[1])
    ended = sum(int(field) for field in _stat(first)[13:15])  # cutime, cstime
    return family_cpu_seconds(first) + ended / os.sysconf("SC_CLK_TCK")


def idle_seconds() -> float:
    """What the cores of this machine had nothing to do, all together, so far."""
    idle, waiting = Path("/proc/stat").read_text().split()[4:6]
    return (int(idle) + int(waiting)) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(command: list[str], port: int, health: str, **options):
    """Start, wait for the first 200, stop with everything it started. It stops too where this process is killed."""
    begin = time.perf_counter()
    options["preexec_fn"] = signalled_at_death_of(os.getpid(), signal.SIGTERM)
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, **options)
    try:
        while not answers(port, health):
            if process.poll() is not None or time.perf_counter() - begin > START_SECONDS:
                raise SystemExit(f"{' '.join(command)} did not start")
            time.sleep(0.02)
        yield Server(process, port, time.perf_counter() - begin)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def comparena(**options):
    """`manage.py serve` with the DATABASE_URL, BROKER_URL and DATA_DIR of this process. options: of its Popen."""
    port = free_port()
    command = [sys.executable, "manage.py", "serve", f"--port={port}"]
    return running(command, port, "/login/", **{"cwd": ROOT, **options})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def answers(port: int, path: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}{path}", timeout=5) as response:
            return response.status == 200
    except OSError:
        return False


def children(pid: int) -> list[int]:
    """Processes that this one started; none where it is gone."""
    try:
        return [int(c) for task in Path(f"/proc/{pid}/task").glob("*") for c in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def command_of(pid: int) -> str:
    """Its command line; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _family(pid: int) -> list[int]:
    return [pid, *(member for child in children(pid) for member in _family(child))]


def _pss(pid: int) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(next(line.split()[1] for line in rollup.splitlines() if line.startswith("Pss:")))


def _ticks(pid: int) -> int:
    """0 where it is gone."""
    try:
        return sum(int(field) for field in _stat(pid)[11:13])  # utime, stime
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _stat(pid: int) -> list[str]:
    """What proc(5) tells of a process, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()

"""The load benchmark's servers end with it, whether it is asked to end or killed."""

import os
import signal
import subprocess
import sys

import pytest

PARENT = """
import signal, sys, time
from benchmarks.load import servers
from benchmarks.load.__main__ import stop

signal.signal(signal.SIGTERM, stop)
port = servers.free_port()
with servers.running([sys.executable, "-m", "http.server", str(port), "--bind", servers.HOST], port, "/") as server:
    print(server.process.pid, flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's prctl")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_server_ends_with_the_run(number, status):
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    server = int(parent.stdout.readline())
    try:
        parent.send_signal(number)
        parent.communicate(timeout=60)  # the server holds the other end of stderr until it is gone
    except subprocess.TimeoutExpired:
        os.kill(server, signal.SIGKILL)
        raise
    assert parent.returncode == status

"""A child ends when its parent is killed, by Linux's signal and, as on other systems, by looking for its parent."""

import os
import subprocess
import sys
import time

import pytest

CHILD = "import os, time; from core import parent; {watch}; print(os.getpid(), flush=True); time.sleep(60)"
PARENT = """
import os, signal, subprocess, sys
from core import parent
start = {start}
env = {{**os.environ, parent.STARTED_BY: str(os.getpid())}}
subprocess.Popen([sys.executable, "-c", sys.argv[1]], preexec_fn=start, env=env).wait()
"""


@pytest.mark.parametrize(
    ("watch", "start"),
    [
        ("parent.end_with_starter()", "None"),
        pytest.param(
            "pass",
            "parent.signalled_at_death_of(os.getpid(), signal.SIGTERM)",
            marks=pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's prctl"),
        ),
    ],
)
def test_a_child_ends_when_its_parent_is_killed(watch, start):
    command = [sys.executable, "-c", PARENT.format(start=start), CHILD.format(watch=watch)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        os.kill(child, 0)  # it lives
        parent.kill()
        assert parent.stdout.read() == ""  # ends only when the child's copy is closed too: when it is gone
    for _ in range(50):  # whoever inherits it has not asked for its status yet
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(child)], capture_output=True, text=True).stdout
        if state.startswith("Z"):
            return
        time.sleep(0.1)
    raise AssertionError(state)


def test_a_process_that_nobody_of_ours_started_is_not_watched(monkeypatch):
    from core import parent

    monkeypatch.setenv(parent.STARTED_BY, "1234567")
    monkeypatch.setattr(parent, "end_without", None)
    parent.end_with_starter()

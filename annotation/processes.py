"""A process beside a worker for one job that may take minutes, so that the worker goes on with short ones."""

import os
import signal
import subprocess
import sys

from django.conf import settings

from core.parent import signalled_at_death_of

NICER = 5  # than the worker: people's pages and short jobs come first
_running: subprocess.Popen | None = None


def start(command: str, job_id: str) -> bool:
    """Run one of manage.py's commands on a job; it ends with this worker. False, with nothing started, while the one before
    runs: a worker has one such process at most."""
    global _running
    if _running is not None and _running.poll() is None:
        return False
    end_with_worker = signalled_at_death_of(os.getpid(), signal.SIGKILL)

    def in_child() -> None:
        end_with_worker()
        os.nice(NICER)

    _running = subprocess.Popen(
        [sys.executable, "-m", "django", command, str(job_id)],
        cwd=settings.BASE_DIR,  # where it finds config
        env={**os.environ, "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE},
        preexec_fn=in_child,
    )
    return True

"""Whether this installation is well: for probes, which nobody signs in for, and for the admins' page."""

import os
import shutil
import threading
import time
from pathlib import Path

import redis
from celery import current_app
from django.conf import settings
from django.db import Error, connection, transaction
from django.db.models import Count
from django.utils import timezone

from annotation import jobs
from annotation.models import Heartbeat, Job, WorkerPulse
from annotation.workers import has_gpu

FEWEST_FREE_BYTES = 500 * 2**20  # a training writes that much
KEPT_SECONDS = 5.0  # an answer to a probe, so that nobody can make the server work by asking
WELL = "ok"

_kept: dict[str, tuple[float, dict[str, str]]] = {}
_lock = threading.Lock()


def live() -> dict[str, str]:
    """{what: "ok" or what is wrong}: what pages need."""
    return _lately("live", {"database": _database})


def ready() -> dict[str, str]:
    """The same of all that the installation needs to do its work."""
    return _lately("ready", {"database": _database, "storing": _storing, "broker": _broker, "worker": _worker, "disk": _disk})


def _lately(name: str, checks: dict) -> dict[str, str]:
    with _lock:
        asked, answers = _kept.get(name, (-KEPT_SECONDS, {}))
        if time.monotonic() - asked >= KEPT_SECONDS:
            answers = {what: check() for what, check in checks.items()}
            _kept[name] = time.monotonic(), answers
        return answers


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return "cannot be reached"
    return WELL


ON_DISK = "SELECT count(*) FROM (SELECT random() AS r FROM generate_series(1, 20000) ORDER BY r OFFSET 1) AS sorted"


def _storing() -> str:
    """A row is written: a database that can only be read, or whose disk is full, answers everything else. A row may find room
    in a page that is there. So PostgreSQL, whose disk may be another machine's, also sorts more than its memory takes."""
    try:
        with transaction.atomic():
            Heartbeat.objects.update_or_create(pk=1, defaults={"at": timezone.now()})
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute("SET LOCAL work_mem = '64kB'")
                    cursor.execute(ON_DISK)
    except Error:
        return "nothing can be stored"
    return WELL


def _broker() -> str:
    address = current_app.conf.broker_url or ""
    try:
        if address.startswith(("redis://", "rediss://")):
            with redis.Redis.from_url(address, socket_timeout=1, socket_connect_timeout=1) as server:
                server.ping()
        elif address.startswith("filesystem"):
            if not os.access(current_app.conf.broker_transport_options["data_folder_out"], os.W_OK):
                return "cannot be written"
        else:
            with current_app.connection_for_write(connect_timeout=1) as other:
                other.connect()
    except Exception:  # whatever the transport raises
        return "cannot be reached"
    return WELL


def _worker() -> str:
    try:
        return WELL if jobs.worker_alive() else "none is alive"
    except Error:
        return "not known"


def _disk() -> str:
    return WELL if shutil.disk_usage(settings.DATA_DIR).free >= FEWEST_FREE_BYTES else "nearly full"


def workers() -> list[WorkerPulse]:
    """Those seen within a day, the last first, each with `is_alive`, `has_gpu` and the `shared_queues` that it takes from."""
    pulses = list(WorkerPulse.objects.order_by("-seen_at"))
    for pulse in pulses:
        pulse.is_alive = pulse.seen_at >= timezone.now() - jobs.ALIVE
        pulse.has_gpu = has_gpu(pulse)
        pulse.shared_queues = [name for name in pulse.queues if name in settings.QUEUES]
    return pulses


def queues() -> list[dict]:
    """Of each queue how many jobs wait and run, and whether a living worker takes from it."""
    counts = {name: {"name": name, "queued": 0, "running": 0, "served": False} for name in settings.QUEUES}
    open_jobs = Job.objects.filter(status__in=[Job.Status.QUEUED, Job.Status.RUNNING]).order_by()
    for task, status, count in open_jobs.values_list("task", "status").annotate(Count("pk")):
        counts[jobs.queue_of(task)][status] += count
    for pulse in workers():
        for name in pulse.queues or counts:
            if pulse.is_alive and name in counts:
                counts[name]["served"] = True
    return list(counts.values())


def sizes() -> dict[str, int]:
    """Bytes: what is free and what there is where DATA_DIR lies, and of the database."""
    disk = shutil.disk_usage(settings.DATA_DIR)
    return {"free": disk.free, "disk": disk.total, "database": _database_size()}


def _database_size() -> int:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return cursor.fetchone()[0]
    path = Path(str(connection.settings_dict["NAME"]))
    parts = [path, path.with_name(path.name + "-wal")]
    return sum(part.stat().st_size for part in parts if part.is_file())

"""The Celery application. Workers start with `celery -A config.celery worker`."""

import os
import threading
import warnings

from celery import Celery
from celery.signals import celeryd_after_setup, worker_init, worker_process_init, worker_ready, worker_shutting_down

from config import gpu
from core.parent import end_with_starter, end_without
from core.version import code_version

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Celery warns root about pickled messages; only JSON is accepted here (CELERY_ACCEPT_CONTENT).
warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")

app = Celery("comparena")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

_stopping = threading.Event()


@celeryd_after_setup.connect
def take_gpu_queues(instance, **kwargs):
    """A worker with a graphics card gets trainings and judging first (annotation.workers)."""
    from annotation.workers import FIRST_ON_GPU, gpu_queue

    queues = instance.app.amqp.queues
    wanted = [name for name in FIRST_ON_GPU if name in queues.consume_from]
    for name in wanted if wanted and gpu.is_used() else []:
        queues.select_add(gpu_queue(name))


@worker_ready.connect
def start_pulse(sender, **kwargs):
    """Every worker says that it lives and sweeps for lost jobs (annotation.jobs)."""
    from annotation.jobs import pulse_forever

    queues = sorted(sender.app.amqp.queues.consume_from)
    threading.Thread(target=pulse_forever, args=(sender.hostname, _stopping, queues), daemon=True).start()


@worker_shutting_down.connect
def stop_pulse(**kwargs):
    _stopping.set()


@worker_init.connect
def start(**kwargs):
    end_with_starter()
    code_version()  # of what was loaded now, whatever becomes of the files


@worker_process_init.connect
def end_with_worker(**kwargs):
    """The process that does the work, which may be busy for hours: whoever killed its worker wants it gone too."""
    end_without(os.getppid())

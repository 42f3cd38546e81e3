"""Run everything on this machine: the web server and two Celery workers, one of which trains, until Ctrl-C."""

import ipaddress
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from annotation.models import User
from annotation.people import first_admin
from core.parent import STARTED_BY, signalled_at_death_of
from leaderboard.demo.load import LOG_INS, admit_published_log_ins, load_demo

SHUTDOWN_SECONDS = 15
THREADS = (
    4  # of a web process: eight store fewer judgments a second on PostgreSQL (docs/results/load.md), and SQLite has one writer
)
KEPT_SECONDS = 24 * 3600  # an upload that is coming in; it may be another machine's
WORKERS = {"worker": ["interactive", "judging"], "training worker": ["training", "judging"]}  # which queues each takes


class Command(BaseCommand):
    help = "Update the database, then run the web server and two workers in the foreground."

    def add_arguments(self, parser):
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--web-processes", type=int, default=_web_processes(), help="default: %(default)s")
        parser.add_argument("--threads", type=int, default=THREADS, help="of each web process; default: %(default)s")
        parser.add_argument(
            "--queues",
            nargs="*",
            choices=settings.QUEUES,
            default=settings.QUEUES,
            metavar="QUEUE",
            help="which queues the workers of this machine take; without a name, no worker is started. Default: all",
        )
        parser.add_argument("--demo", action="store_true", help="load the demonstration campaign and its accounts")
        parser.add_argument(
            "--demo-for-everybody",
            action="store_true",
            help="allow --demo where other machines reach it; anyone can then sign in as admin with a known password",
        )

    def handle(self, *args, host, port, web_processes, threads, queues, demo, demo_for_everybody, **options):
        if demo and not demo_for_everybody and not _is_loopback(host):
            raise CommandError(
                f"The demonstration's passwords are published, and other machines can reach {host}; leave --host out, "
                "or say --demo-for-everybody."
            )
        _must_be_free(host, port)
        for left in settings.FILE_UPLOAD_TEMP_DIR.iterdir():  # of a server that was killed
            if time.time() - left.stat().st_mtime > KEPT_SECONDS:
                left.unlink(missing_ok=True)
        call_command("migrate", verbosity=0)
        if demo:
            load_demo(self.stdout.write)
        admit_published_log_ins(demo)
        if not first_admin.has_admin():  # the web server reads it
            os.environ.setdefault("FIRST_ADMIN_KEY", first_admin.new_code())
        try:
            self._run(host, port, web_processes, threads, queues, demo)
        finally:
            if demo:
                admit_published_log_ins(False)
        self.stdout.write("Stopped.")

    def _run(self, host, port, web_processes, threads, queues, demo) -> None:
        web = {"web server": _web_server(host, port, web_processes, threads)}
        commands = web | {name: _worker(name, taken) for name, taken in _workers(queues).items()}
        with _Processes(commands) as processes:
            _wait_until_served(host, port, processes)
            self._greet(*_address(host, port), demo)
            processes.watch(self.stderr.write)

    def _greet(self, address: str, hint: str, demo: bool) -> None:
        self.stdout.write(f"\nComparena is at {address}")
        if hint:
            self.stdout.write(hint)
        if demo:
            self.stdout.write("Log in as one of these (name / password); judgments of the demonstration are simulated:")
            for name, password, role in LOG_INS:
                self.stdout.write(f"  {name} / {password}   {role}")
            self.stdout.write("A comparator is being trained now. Its leaderboard follows automatically.")
        elif not first_admin.has_admin():
            where = "" if settings.SITE_URL else " in a browser on this machine"
            who = "It" if settings.SITE_URL else "From another machine, from outside a container, or by another name, it"
            self.stdout.write(f"There is no admin yet. Create one at {address}first/{where}.")
            self.stdout.write(f"{who} asks for this code: {os.environ['FIRST_ADMIN_KEY']}")
        elif not User.objects.filter(is_staff=True, is_active=True).exists():
            self.stdout.write(f"No admin can sign in: {sys.argv[0]} createsuperuser makes one.")
        self.stdout.write(f"All data are in {settings.DATA_DIR}. Press Ctrl-C to stop.\n")
        self.stdout.flush()


class _Processes:
    """Children in process groups of their own, so that one Ctrl-C reaches them once, from here. They end with this
    process, even where it is killed (core.parent)."""

    def __init__(self, commands: dict[str, list[str]]):
        self.commands = commands
        self.running: dict[str, subprocess.Popen] = {}

    def __enter__(self):
        for number in (signal.SIGINT, signal.SIGTERM):  # a shell may start us with SIGINT ignored
            signal.signal(number, _interrupt)
        for name in self.commands:
            self.start(name)
        return self

    def start(self, name: str) -> None:
        self.running[name] = subprocess.Popen(
            self.commands[name],
            start_new_session=True,
            preexec_fn=signalled_at_death_of(os.getpid(), signal.SIGTERM if name == "web server" else signal.SIGKILL),
            cwd=settings.BASE_DIR,  # where they find config
            env={"OMP_NUM_THREADS": _threads_of_torch(), **os.environ, **_places(), STARTED_BY: str(os.getpid())},
        )

    def watch(self, write) -> None:
        """Start again what died, until interrupted."""
        try:
            while True:
                time.sleep(1)
                for name, process in list(self.running.items()):
                    if process.poll() is not None:
                        write(f"The {name} stopped (exit status {process.returncode}); starting it again.")
                        _kill_group(process, signal.SIGKILL)
                        time.sleep(1)
                        self.start(name)
        except KeyboardInterrupt:
            pass

    def __exit__(self, *error):
        for process in self.running.values():
            process.terminate()
        end = time.monotonic() + SHUTDOWN_SECONDS
        for process in self.running.values():
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:  # a training in progress: its job is found again at the next start
                pass
            _kill_group(process, signal.SIGKILL)
        return error[0] is KeyboardInterrupt


def _web_server(host: str, port: int, processes: int, threads: int) -> list[str]:
    command = [
        os.path.join(os.path.dirname(sys.executable), "gunicorn"),
        "config.wsgi",
        f"--bind={host}:{port}",
        f"--workers={processes}",
        f"--threads={threads}",
        "--worker-class=config.web_worker.WebWorker",
        "--preload",
        "--log-level=warning",
    ]
    # A kept connection stays with its process, and one process could have nearly all of them. So where there are several,
    # one request is answered on a connection, which a process takes when it has a free thread: everybody waits in one queue.
    return command if processes == 1 else [*command, "--keep-alive=0"]


def _workers(queues: Collection[str]) -> dict[str, list[str]]:
    """{name of a worker: the queues that it takes}, of those with anything to take."""
    taken = {name: [queue for queue in own if queue in queues] for name, own in WORKERS.items()}
    return {name: own for name, own in taken.items() if own}


def _worker(name: str, queues: list[str]) -> list[str]:
    return [
        sys.executable,
        "-m",
        "celery",
        "--quiet",
        "-A",
        "config.celery",
        "worker",
        f"--queues={','.join(queues)}",
        "--concurrency=1",
        "--loglevel=WARNING",
        f"--hostname={name.replace(' ', '-')}-{os.getpid()}@%h",
        "--without-gossip",
        "--without-mingle",
    ]


def _places() -> dict[str, str]:
    """Settings that name files, from wherever this was started."""
    database = settings.DATABASES["default"]
    relative = "DATABASE_URL" in os.environ and connection.vendor == "sqlite"
    named = {"DATABASE_URL": f"sqlite:///{os.path.abspath(database['NAME'])}"} if relative else {}
    return {"DATA_DIR": str(settings.DATA_DIR), **named}


def _threads_of_torch() -> str:
    """One core is left to the web server and the other worker, where there are several."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return str(max(1, cores - 1))


def _web_processes() -> int:
    """One for each core, up to four; SQLite lets only one write, so a second one would mostly wait."""
    return 1 if connection.vendor == "sqlite" else min(os.cpu_count() or 1, 4)


def _interrupt(*_):
    raise KeyboardInterrupt


def _kill_group(process: subprocess.Popen, sig: int) -> None:
    try:
        os.killpg(process.pid, sig)
    except ProcessLookupError:
        pass


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address(host: str, port: int) -> tuple[str, str]:
    """(what a person opens, what else they need to know). Nobody can open 0.0.0.0."""
    if settings.SITE_URL:
        return f"{settings.SITE_URL}/", ""
    own = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host)  # noqa: S104
    hint = (
        "Other machines open it by this machine's name, which must be in ALLOWED_HOSTS. "
        f"Outside a container, use the port as which its port {port} is published."
    )
    return f"http://{own or host}:{port}/", hint if own else ""


def _must_be_free(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"Port {port} of {host} can't be used ({error.strerror}); try --port 8001 (of make: PORT=8001)."
            ) from error


def _wait_until_served(host: str, port: int, processes: _Processes) -> None:
    for _ in range(300):
        if processes.running["web server"].poll() is not None:
            raise CommandError("The web server did not start. Its error message is above.")
        with socket.socket() as probe:
            if probe.connect_ex((host, port)) == 0:
                return
        time.sleep(0.1)
    raise CommandError("The web server did not answer within 30 seconds.")

"""People judge and jobs run while the web server, a worker, Redis and PostgreSQL are killed at random, again and again.

What must hold afterwards: every confirmed judgment is stored once, every item has its k, every job ends well, and jobs give
what they gave without faults. Each job runs twice: first alone, then under faults.
"""

import asyncio
import hashlib
import os
import random
import signal
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from django.db import connection

from annotation import jobs
from annotation.models import Job
from benchmarks.load import campaign as corpus
from benchmarks.load import job_results, servers
from benchmarks.load.browser import Browser, Response, Timings, form
from benchmarks.load.people import ComparenaPerson
from benchmarks.load.servers import Server, children, command_of

PAUSES = (1, 2, 4, 8, 15, 30)  # seconds between tries, as in static/js/annotate/sending.js; the last one repeats
PATIENCE = 30  # seconds until a try counts as lost, as there
RELOAD_SECONDS = 3  # until somebody whose page did not load, or who works without JavaScript, tries again
AWAY_SECONDS = (0.5, 8.0)  # how long Redis and PostgreSQL stay away; `manage.py serve` starts the other two again at once
KINDS = ("web server", "worker", "Redis", "PostgreSQL")
LOOKS = 20  # times somebody with nothing to do looks again, once all faults are over, before leaving
JOBS_SECONDS = 900  # until the last job is done, after the faults


class PatientBrowser(Browser):
    """Asks until it is answered. A key comes with each judgment, so that one that arrives twice is stored once."""

    pauses: tuple[float, ...] = PAUSES

    def __init__(self, port: int, run: "Run"):
        super().__init__(servers.HOST, port, run.timings)
        self.run = run

    async def get(self, path: str, kind: str) -> Response:
        return await self._until_answered(kind, (RELOAD_SECONDS,), lambda: self._request("GET", path))

    async def post(self, path: str, fields: dict, kind: str, headers: dict | None = None) -> Response:
        pauses = self.pauses if headers else (RELOAD_SECONDS,)
        return await self._until_answered(kind, pauses, lambda: self._request("POST", path, form(fields), headers))

    async def _until_answered(self, kind: str, pauses: tuple[float, ...], ask) -> Response:
        begin, tries = time.perf_counter(), 0
        while True:
            try:
                response = await asyncio.wait_for(ask(), PATIENCE)
                if response.status < 500:
                    self.timings.add(kind, time.perf_counter() - begin)
                    return response
                self.run.refused[f"{kind}: {response.status}"] += 1
            except (OSError, EOFError, TimeoutError):
                self.close()
                self.run.refused[f"{kind}: no answer"] += 1
            await asyncio.sleep(pauses[min(tries, len(pauses) - 1)])
            tries += 1


@dataclass
class Run:
    """What is counted while it goes on."""

    end: float = 0.0  # of the faults, by time.perf_counter
    timings: Timings = field(default_factory=Timings)
    acknowledged: set[str] = field(default_factory=set)
    refused: Counter = field(default_factory=Counter)  # tries without an answer, and answers that say to try again
    kills: Counter = field(default_factory=Counter)
    away: dict = field(default_factory=lambda: defaultdict(float))  # seconds


async def judge(person: ComparenaPerson, run: Run, pause: float) -> None:
    """Until nothing is left, at one judgment in so many seconds."""
    idle, answer = 0, None
    while idle < LOOKS:
        answer = answer or await person.page()
        if answer is None:
            idle = idle + 1 if time.perf_counter() > run.end else 0
            await asyncio.sleep(1)
            continue
        idle = 0
        await asyncio.sleep(person.random.uniform(0.5, 1.5) * pause)
        following = await person.judge(answer)
        run.acknowledged.add(answer.fields["key"])
        answer = following
    person.browser.close()


class Faults:
    """So many kills of each kind, at random moments."""

    def __init__(self, options, server: Server, run: Run):
        self.draw, self.server, self.run = random.Random(options.seed), server, run
        self.database, self.broker = options.services
        moments = lambda: sorted(self.draw.uniform(0.02, 0.97) * options.seconds for _ in range(options.kills))
        self.moments = {kind: moments() for kind in KINDS}

    async def go(self) -> None:
        begin = time.perf_counter()
        await asyncio.gather(*(self._kind(kind, begin) for kind in KINDS))

    async def _kind(self, kind: str, begin: float) -> None:
        draw, what = random.Random(f"{self.draw.random()} {kind}"), getattr(self, kind.replace(" ", "_").lower())
        for moment in self.moments[kind]:
            await asyncio.sleep(max(0.0, begin + moment - time.perf_counter()))
            killed_at = time.perf_counter()
            said = await asyncio.to_thread(what, draw)
            self.run.kills[kind] += 1
            self.run.away[kind] += time.perf_counter() - killed_at
            print(
                f"  {killed_at - begin:5.0f} s  {kind}: {said}, back after {time.perf_counter() - killed_at:.1f} s", flush=True
            )

    def web_server(self, draw: random.Random) -> str:
        """Its first process alone, whose others end by themselves, or all of them."""
        pid = self._served("gunicorn")
        together = draw.random() < 0.5
        (os.killpg if together else os.kill)(pid, signal.SIGKILL)
        self._wait(lambda: self._served("gunicorn") != pid and servers.answers(self.server.port, "/login/"))
        return "all its processes" if together else "its first process"

    def worker(self, draw: random.Random) -> str:
        """One of the two: the process that works, or the one that started it."""
        name = draw.choice(["interactive,judging", "training,judging"])
        pid = self._served(f"--queues={name}")
        before = children(pid)
        inner = before if draw.random() < 0.5 else []
        for one in inner or [pid]:
            os.kill(one, signal.SIGKILL)
        self._wait(lambda: set(children(self._served(f"--queues={name}"))) - set(before))
        return f"{'the process that works' if inner else 'the first process'} of {name}"

    def redis(self, draw: random.Random) -> str:
        self.broker.kill()
        time.sleep(draw.uniform(*AWAY_SECONDS))
        self.broker.start()
        return "kill -9, it keeps nothing"

    def postgresql(self, draw: random.Random) -> str:
        number = draw.choice([signal.SIGKILL, signal.SIGQUIT])
        self.database.kill(number)
        time.sleep(draw.uniform(*AWAY_SECONDS))
        self.database.start()
        return "kill -9" if number == signal.SIGKILL else "immediate stop"

    def _served(self, words: str) -> int:
        """The process under `manage.py serve` whose command has these words; waits while it is being started again."""
        found: list[int] = []

        def look() -> bool:
            found[:] = [pid for pid in children(self.server.process.pid) if words in command_of(pid)]
            return bool(found)

        self._wait(look)
        return found[0]

    def _wait(self, condition) -> None:
        end = time.monotonic() + 60
        while not condition():
            if time.monotonic() > end or self.server.process.poll() is not None:
                raise SystemExit("what was killed did not come back")
            time.sleep(0.05)


async def faults(options, folder: Path) -> int:
    load = [os.getloadavg()[0]]
    made = await with_database(job_results.Material, folder, options)
    campaign, token = await with_database(corpus.make, options.items, options.k, True)
    with Path(options.server_log or folder / "server.log").open("wb") as log, servers.comparena(stderr=log) as server:
        print("  each job alone first", flush=True)
        await with_database(wait_for_jobs)  # the boards of the first comparator
        without = await with_database(results_of, made)
        run = Run()
        people = [_person(options, server, run, number, token) for number in range(options.annotators)]
        for person in people:
            await person.join()
        load.append(os.getloadavg()[0])
        before, begun = await with_database(finished), time.perf_counter()
        run.end = begun + options.seconds
        started = await with_database(made.start)
        await asyncio.gather(Faults(options, server, run).go(), *(judge(person, run, options.pause) for person in people))
        seconds = time.perf_counter() - begun
        retried = await with_database(wait_for_jobs)
        under = await with_database(made.results, started)
    load.append(os.getloadavg()[0])
    found, wrong = await with_database(corpus.check, campaign, run.acknowledged)
    ended = await with_database(finished, before)
    differences = {name: job_results.difference(without[name], under[name]) for name in without if without[name] != under[name]}
    wrong += [f"{name} differs from the run without faults" for name in differences]
    wrong += [f"{name} is empty" for name in without if not under[name]]
    wrong += [f"{title} is {status}: {error}" for title, status, _, error in ended.values() if status != Job.Status.DONE]
    rows = [
        *((f"{kind} killed", f"{run.kills[kind]} times, away for {run.away[kind]:.0f} s in all") for kind in KINDS),
        *(("" if i else "judgments", line) for i, line in enumerate(found)),
        ("one judgment, tries and all", _quantiles(run.timings)),
        ("tries that failed", ", ".join(f"{count} {what}" for what, count in sorted(run.refused.items()))),
        *((f"job: {title}", f"{status} at attempt {attempts}") for title, status, attempts, _ in ended.values()),
        ("failed, then started again", "; ".join(f"{title} ({error})" for title, error in retried) or "none"),
        *((name, f"differs in {how}" if (how := differences.get(name)) else _as_before(under[name])) for name in under),
        *([("both results are in", str(_kept(without, under)))] if differences else []),
        ("load average", "before, at the first fault, at the end: " + ", ".join(f"{one:.1f}" for one in load)),
        ("WRONG" if wrong else "all of it holds", "; ".join(wrong)),
    ]
    width = max(len(name) for name, _ in rows)
    where = (
        f"Comparena on {connection.vendor} and Redis, lease {jobs.LEASE.total_seconds():.0f} s, {options.annotators} annotators"
    )
    print(f"{where}, {options.items} items, k = {options.k}, seed {options.seed}, {seconds:.0f} s until all items were judged")
    print("\n".join(f"  {name:<{width}}  {value}".rstrip() for name, value in rows))
    return 1 if wrong else 0


def _person(options, server: Server, run: Run, number: int, token: str) -> ComparenaPerson:
    """One in four works without JavaScript."""
    return ComparenaPerson(PatientBrowser(server.port, run), number, token, number % 4 > 0)


def _as_before(result: bytes) -> str:
    return f"as without faults: {hashlib.sha256(result).hexdigest()[:12]}"


def _kept(without: dict[str, bytes], under: dict[str, bytes]) -> Path:
    """The folder where both are left when all else goes."""
    folder = Path(tempfile.mkdtemp(prefix="comparena-differs-"))
    job_results.keep(without, folder / "without")
    job_results.keep(under, folder / "under")
    return folder


def results_of(made: job_results.Material) -> dict[str, bytes]:
    """Each job once, by workers that nobody kills; a tournament then judges anew."""
    made.forget()
    started = made.start()
    wait_for_jobs()
    results = made.results(started)
    made.forget()
    return results


def finished(before: Collection = ()) -> dict:
    """{id: (title, status, attempts, error)} of all jobs but those before."""
    rows = Job.objects.exclude(pk__in=before).order_by("created_at")
    return {pk: rest for pk, *rest in rows.values_list("pk", "title", "status", "attempts", "error")}


def with_database(work, *arguments):
    """Do it in a thread, whose connection does not outlive it: the database will be killed."""

    def and_close():
        try:
            return work(*arguments)
        finally:
            connection.close()

    return asyncio.to_thread(and_close)


def wait_for_jobs() -> list[tuple[str, str]]:
    """Until all jobs are finished; those that failed are started again once, as their pages offer. Returns (title, error)."""
    end, retried = time.monotonic() + JOBS_SECONDS, {}
    while time.monotonic() < end:
        for job in Job.objects.filter(status=Job.Status.FAILED).exclude(pk__in=retried):
            retried[job.pk] = job.title, job.error
            jobs.retry(job)
        if not Job.objects.filter(status__in=[Job.Status.QUEUED, Job.Status.RUNNING]).exists():
            break
        time.sleep(0.5)
    return list(retried.values())


def _quantiles(timings: Timings) -> str:
    p50, p95, longest = (timings.quantile("judgment", q) / 1000 for q in (0.5, 0.95, 1))
    return f"p50 {p50:.2f} s, p95 {p95:.2f} s, longest {longest:.1f} s"

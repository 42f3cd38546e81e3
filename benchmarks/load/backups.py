"""A backup that is taken while people judge, and one after it, restored elsewhere.

The second must show what the place itself shows, on every page and API address that a researcher reads. The first is the state
of one moment: what was confirmed before it is in it, no judgment is half there, places are counted right, snapshots have
their hashes, and a campaign that nobody worked on shows the same.
"""

import asyncio
import difflib
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from django.db import connection
from django.utils import timezone

from benchmarks.load import campaign as corpus
from benchmarks.load import servers
from benchmarks.load.browser import Browser, Timings
from benchmarks.load.commits import new_database
from benchmarks.load.people import ComparenaPerson

ADMIN, RESTING = "ops", "resting"
# Run in a restored place: what is wrong with it.
LOOK = """
import json, sys, django; django.setup()
from django.db.models import Count, F, Q
from annotation import snapshots
from annotation.models import *
from benchmarks.load.campaign import CRITERIA, answers_by_submission
campaign = Campaign.objects.get(slug="load")
live = Submission.objects.filter(annotator__campaign=campaign, retracted_at=None)
answers = answers_by_submission(campaign)
answered = Q(assignments__submissions__is_surplus=False, assignments__submissions__retracted_at=None)
taken = Q(assignments__status="open") | answered & Q(assignments__submissions__isnull=False)
counted = dict(campaign.items.annotate(n=Count("assignments", filter=taken, distinct=True)).values_list("pk", "n"))
rows = live.filter(is_surplus=False).values_list("key", "assignment__item__other_id")
for snapshot in Snapshot.objects.all():
    snapshots.lines(snapshot)  # raises where its hash is another
print(json.dumps({
    "stored": [str(key) for key in live.values_list("key", flat=True)],
    "snapshots": Snapshot.objects.count(),
    "half": sum(answers[key] != (1 if other else len(CRITERIA)) for key, other in rows),
    "places": sum(item.taken != counted[item.pk] for item in campaign.items.all()),
}))
"""


async def backups(options, folder: Path) -> int:
    from annotation.models import User

    def prepare():
        User.objects.create_superuser(ADMIN)
        _resting(folder)
        return corpus.make(options.items, options.k, True)

    _, token = await asyncio.to_thread(prepare)
    acknowledged: list[tuple[float, str]] = []

    async def judge(person):
        await person.join()
        while answer := await person.page():
            await person.send(answer)
            acknowledged.append((time.perf_counter(), answer.fields["key"]))

    with servers.comparena() as server:
        people = [ComparenaPerson(Browser(servers.HOST, server.port, Timings()), n, token) for n in range(options.annotators)]
        work = asyncio.gather(*(judge(person) for person in people))
        while len(acknowledged) < options.items * options.k // 4:
            await asyncio.sleep(0.1)
        begun = time.perf_counter()
        await asyncio.to_thread(_manage, os.environ, "backup", folder / "under.backup")
        took = time.perf_counter() - begun
        await work
    _manage(os.environ, "backup", folder / "after.backup")
    now = timezone.now().isoformat()
    places = {name: _restored(folder, name) for name in ("under", "after")}
    shown = {name: _bodies(env, folder / f"{name}.json", now) for name, env in {"here": os.environ, **places}.items()}
    looked = {name: _look(env) for name, env in places.items()}
    during = sum(at >= begun for at, _ in acknowledged)
    before = {key for at, key in acknowledged if at < begun}
    moving = lambda path: "/load/" in path or path.startswith(("/jobs/", "/api/jobs/")) or path.count("/") < 4
    wrong = {
        "pages of the second backup that differ": [p for p, body in shown["here"].items() if shown["after"].get(p) != body],
        "pages of the campaign at rest that differ in the first": [
            p for p, body in shown["here"].items() if not moving(p) and shown["under"].get(p) != body
        ],
        "confirmed before the first backup and not in it": sorted(before - set(looked["under"]["stored"])),
        "confirmed and not in the second": sorted({key for _, key in acknowledged} - set(looked["after"]["stored"])),
        "half judgments": sum(one["half"] for one in looked.values()),
        "wrong counts of places": sum(one["places"] for one in looked.values()),
    }
    pages, at_rest = len(shown["here"]), sum(not moving(path) for path in shown["here"])
    print(f"{connection.vendor}, {options.annotators} annotators, {len(acknowledged)} judgments, load {os.getloadavg()[0]:.1f}")
    held, read = len(looked["under"]["stored"]), looked["under"]["snapshots"]
    print(
        f"  backup under load: {took:.1f} s; {len(before)} judgments confirmed before, {during} after its begin, {held} in it"
    )
    print(f"  {pages} pages and API addresses compared, {at_rest} of them with the first; {read} snapshots read")
    for what, found in wrong.items():
        print(f"  {what}: {found or 0}")
    for path in wrong["pages of the second backup that differ"]:
        lines = difflib.unified_diff(shown["here"][path].splitlines(), shown["after"].get(path, "").splitlines(), path, n=0)
        print("\n".join(line[:300] for line in itertools.islice(lines, 10)))
    return 1 if any(wrong.values()) else 0


def _resting(folder: Path) -> None:
    """A campaign with a snapshot and a board, on which nobody works."""
    from leaderboard import tasks
    from leaderboard.tournaments.start import start_tournament
    from tests.evaluator.world import World

    world = World(folder, contexts=12, slug=RESTING)
    tasks.run(start_tournament(world.campaign, "people", foreground=True).job_id)


def _manage(env, *words) -> None:
    subprocess.run(
        [sys.executable, "manage.py", *map(str, words)], cwd=servers.ROOT, env=env, check=True, stdout=subprocess.DEVNULL
    )


def _restored(folder: Path, name: str) -> dict:
    """The environment of a new place in which the backup was restored."""
    env = {key: value for key, value in os.environ.items() if key != "SECRET_KEY"} | {"DATA_DIR": str(folder / name)}
    if url := os.environ.get("DATABASE_URL"):
        env["DATABASE_URL"] = new_database(url, f"restored_{name}")
    _manage(env, "restore", folder / f"{name}.backup")
    return env


def _bodies(env, out: Path, now: str) -> dict[str, str]:
    """{path: body} of both campaigns (tests/access/bodies.py)."""
    found: dict[str, str] = {}
    for slug in ("load", RESTING):
        command = [sys.executable, "-m", "tests.access.bodies", str(out)]
        asked = json.dumps({"user": ADMIN, "now": now, "slug": slug})
        subprocess.run(command, cwd=servers.ROOT, env=env, input=asked, text=True, check=True, stderr=subprocess.DEVNULL)
        found |= json.loads(out.read_text())
    return found


def _look(env) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", LOOK], cwd=servers.ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout)

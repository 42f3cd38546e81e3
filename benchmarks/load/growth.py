"""Server time and queries of every page and call of the API that a researcher, an annotator or an admin may GET, with few
answers and with many: what grows is found here."""

import logging
import os
import re
import time
from pathlib import Path

from django.conf import settings
from django.db import connection, reset_queries
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.models import Annotator, Calculation, Campaign, Context, Item, Job, Output, System, User
from config.celery import app
from leaderboard.tasks import run as play
from leaderboard.tournaments.start import start_tournament

SYSTEMS, EACH, A_PERSON = 10, 5, 1000  # systems; people on each item, with two scores each; items of a person, about
APART = 101  # from one person of an item to the next: no two are the same
SLOW, LIMIT = 5.0, 1.0  # seconds: a page is asked once; a page is said to be slow
BATCH = 5000
NUMBER = re.compile(r"(?<=[/=])([0-9a-f-]{36}|[0-9a-f]{12}|\d+)(?=[/.]|$)")  # of a row, a job or a snapshot in an address

ASSIGNMENTS = """
INSERT INTO annotation_assignment (item_id, annotator_id, status, purpose, swapped, "order", assigned_at, completed_at)
SELECT i.id, a.id, 'done', 'evaluation', {false}, '', {now}, {now} FROM annotation_item i
JOIN annotation_annotator a ON a.campaign_id = i.campaign_id AND a.id = {first} + (i.position + {apart}) % {people}
WHERE i.campaign_id = {campaign}"""
SUBMISSIONS = """
INSERT INTO annotation_submission (key, annotator_id, assignment_id, payload, seconds, active_seconds, is_surplus, created_at)
SELECT {uuid}, s.annotator_id, s.id, {payload}, 20, 15, {false}, {now} FROM annotation_assignment s
JOIN annotation_item i ON i.id = s.item_id WHERE i.campaign_id = {campaign}"""
SCORES = """
INSERT INTO annotation_likertscore
(submission_id, purpose, created_at, cannot_say, annotator_id, output_id, criterion_id, value)
SELECT u.key, 'evaluation', {now}, {false}, u.annotator_id, i.output_id, c.id,
1 + (i.output_id * 7 + i.output_id / 3 + u.annotator_id % 3 + c.id) % 5
FROM annotation_submission u JOIN annotation_assignment s ON s.id = u.assignment_id
JOIN annotation_item i ON i.id = s.item_id JOIN annotation_criterion c ON c.campaign_id = i.campaign_id
WHERE i.campaign_id = {campaign}"""


async def growth(options, folder: Path) -> int:
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # nothing else runs in this process
    settings.ALLOWED_HOSTS = ["*"]
    logging.disable(logging.WARNING)  # what is not there in this campaign
    sizes = {"few": options.few, "many": options.items}
    users = _users()
    figures = {}
    for slug, items in sizes.items():
        campaign = Campaign.objects.filter(slug=slug).first() or _made(slug, items, users)
        print(f"{slug}: {items:,} items, {2 * EACH * items:,} answers; load {os.getloadavg()[0]:.1f}", flush=True)
        figures[slug] = _measured(campaign, users, options.only)
    return _told(figures)


def _users() -> dict[str, User]:
    root = User.objects.filter(username="root").first() or User.objects.create_superuser("root", may_create_campaigns=True)
    return {"researcher": root, "annotator": User.objects.get_or_create(username="ann")[0]}


def _made(slug: str, items: int, users: dict[str, User]) -> Campaign:
    criteria = [CriterionSpec(name, 1, 5, "poor", "good", name) for name in ("Fluency", "Relevance")]
    campaign = create_campaign(
        slug=slug, title=slug, criteria=criteria, likert=True, pairwise=False, overlap=EACH, user=users["researcher"]
    )
    systems = System.objects.bulk_create(System(campaign=campaign, name=f"system {n}") for n in range(SYSTEMS))
    size = max(10, items * EACH // A_PERSON)
    people = [Annotator(campaign=campaign, name=f"person {n}", user=None if n else users["annotator"]) for n in range(size)]
    first = Annotator.objects.bulk_create(people)[0].pk
    contexts = Context.objects.bulk_create(
        (Context(campaign=campaign, key=f"c{n}", turns=[f"Would you like tea number {n}?"]) for n in range(items // SYSTEMS)),
        batch_size=BATCH,
    )
    outputs = Output.objects.bulk_create(
        (Output(system=s, context=c, text=f"{s.name} would, in {c.key}.") for c in contexts for s in systems), batch_size=BATCH
    )
    Item.objects.bulk_create(
        (
            Item(
                campaign=campaign, output=o, context_id=o.context_id, cell=str(o.system_id), position=n, places=EACH, taken=EACH
            )
            for n, o in enumerate(outputs)
        ),
        batch_size=BATCH,
    )
    _fill(campaign, first, size)
    begin = time.process_time()
    print(f"{slug}: {assess(campaign, user=users['researcher'])}", flush=True)
    print(f"{slug}: {play(start_tournament(campaign, 'people', foreground=True).job_id)}", flush=True)
    print(f"  a snapshot and a tournament of its answers in {time.process_time() - begin:.1f} s of CPU", flush=True)
    return campaign


def _fill(campaign: Campaign, first: int, people: int) -> None:
    on_postgres = connection.vendor == "postgresql"
    words = {
        "false": "false" if on_postgres else "0",
        "now": "'2026-01-01 00:00:00+00'" if on_postgres else "'2026-01-01 00:00:00'",
        "uuid": "gen_random_uuid()" if on_postgres else "lower(hex(randomblob(16)))",
        "payload": "'{}'::jsonb" if on_postgres else "'{}'",
        "campaign": campaign.pk,
        "first": first,
        "people": people,
    }
    with connection.cursor() as cursor:
        for number in range(EACH):
            cursor.execute(ASSIGNMENTS.format(**words, apart=number * APART))
        cursor.execute(SUBMISSIONS.format(**words))
        cursor.execute(SCORES.format(**words))
        cursor.execute("ANALYZE")


def _paths(campaign: Campaign) -> dict[str, str]:
    """{path: who asks it}; those that a worker's figures take longest come last."""
    from tests.access.bodies import paths_of
    from tests.access.table import expectations

    annotators = [f"/c/{campaign.slug}/annotate/", f"/c/{campaign.slug}/answers/", f"/api/tasks/{campaign.slug}/"]
    lists = [f"/{route}" for route in expectations() if route.startswith("admin/annotation/") and route.count("/") == 3]
    of_admins = [f"/{route}" for route, may in expectations().items() if may.get("GET") == {"admin"} and "<" not in route]
    asked = [*paths_of(campaign), *lists, *(path for path in of_admins if not path.startswith("/admin/"))]
    found = dict.fromkeys(asked, "researcher") | dict.fromkeys(annotators, "annotator")
    return dict(sorted(found.items(), key=lambda row: "quality" in row[0]))


def _measured(campaign: Campaign, users: dict[str, User], only: str) -> dict[str, tuple]:
    """{route: (status, queries, seconds)}; what a worker does in between is done here."""
    clients = {role: Client(raise_request_exception=False) for role in users}
    for role, client in clients.items():
        client.force_login(users[role])
        client.get("/")  # loads code and templates
    found: dict[str, tuple] = {}
    for path, role in _paths(campaign).items():
        route = NUMBER.sub("N", path.replace(f"/{campaign.slug}/", "/*/"))
        if route in found or not re.search(only, route):
            continue
        status, _, seconds = _asked(clients[role], path)
        _work()
        if seconds < SLOW:
            status, queries, seconds = min((_asked(clients[role], path) for _ in range(2)), key=lambda asked: asked[2])
        else:
            queries = 0
        found[route] = (status, queries, seconds)
        print(f"  {route}: {status}, {queries} queries, {1000 * seconds:.0f} ms", flush=True)
    return found


def _asked(client: Client, path: str) -> tuple[int, int, float]:
    """(status, queries, seconds: this process's CPU, and what its queries waited for PostgreSQL). Another's load is left out as
    far as it can be."""
    reset_queries()  # of which Django keeps no more than 9,000
    begin = time.process_time()
    with CaptureQueriesContext(connection) as queries:
        response = client.get(path)
    waited = sum(float(query["time"]) for query in queries.captured_queries) if connection.vendor == "postgresql" else 0.0
    return response.status_code, len(queries), time.process_time() - begin + waited


def _work() -> None:
    app.loader.import_default_modules()  # the tasks
    for row in Calculation.objects.filter(job__status=Job.Status.QUEUED).select_related("job", "campaign"):
        begin = time.process_time()
        app.tasks[row.job.task](str(row.job_id))
        print(f"  a worker: {row.what} of {row.campaign.slug} in {time.process_time() - begin:.1f} s of its CPU", flush=True)


def _told(figures: dict[str, dict[str, tuple]]) -> int:
    rows = []
    for route, (status, queries, seconds) in figures["many"].items():
        before = figures["few"].get(route, (0, 0, 0.0))
        rows.append(
            (seconds, f"| {route} | {status} | {before[1]} / {queries} | {1000 * before[2]:.0f} | {1000 * seconds:.0f} |")
        )
    print("\n| page | status | queries, few / many | ms, few | ms, many |")
    print("|---|---|---|---|---|")
    for _, line in sorted(rows, reverse=True):
        print(line)
    slow = sum(seconds > LIMIT for seconds, _ in rows)
    print(f"\n{len(rows)} pages and calls, {slow} above {LIMIT:g} s")
    return 0

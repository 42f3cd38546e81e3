"""What the next item costs in a campaign that begins and in one that is 80 % done: python -m benchmarks.assignment [items].

50 people, k = 3, on a database of its own: SQLite, or what scripts/with_postgres_and_redis gives. The two campaigns take
turns within one run, so that the machine's moods fall on both alike. Synthetic texts.
"""

# ruff: noqa: E402
import os
import sys
import time
from statistics import median

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings_test")

import django

django.setup()

from django.db import connection, transaction
from django.test.runner import DiscoverRunner
from django.utils import timezone

from annotation.annotating import places
from annotation.annotating.assignment import turn
from annotation.campaigns.items import draw_items
from annotation.models import Annotator, Assignment, Campaign, Context, Output, System

PEOPLE, SYSTEMS, TURNS = 50, 5, 400


def campaign(slug: str, items: int) -> Campaign:
    made = Campaign.objects.create(slug=slug, title=slug, overlap=3)
    systems = System.objects.bulk_create(System(campaign=made, name=f"system {n}") for n in range(SYSTEMS))
    contexts = [Context(campaign=made, key=f"c{n}", turns=["hi"]) for n in range(items // SYSTEMS)]
    Context.objects.bulk_create(contexts, batch_size=500)
    Output.objects.bulk_create((Output(context=c, system=s, text="x") for c in contexts for s in systems), batch_size=500)
    draw_items(made)
    Annotator.objects.bulk_create(Annotator(campaign=made, name=f"annotator-{n}") for n in range(PEOPLE))
    return made


def fast_forward(made: Campaign, share: float) -> None:
    """The state after that share of the judgments, each item's three people in turn, written at once."""
    people, now = list(made.annotators.all()), timezone.now()
    done = made.items.filter(position__lt=int(share * made.items.count()))
    rows = (
        Assignment(item=item, annotator=people[(3 * n + k) % PEOPLE], status="done", assigned_at=now, completed_at=now)
        for n, item in enumerate(done.order_by("position"))
        for k in range(3)
    )
    Assignment.objects.bulk_create(rows, batch_size=500)
    done.update(taken=3)


def judgment(made: Campaign, n: int) -> float:
    """Milliseconds for one judgment: the person, their next item and progress, the place kept."""
    start = time.perf_counter()
    annotator = Annotator.objects.select_related("campaign").get(campaign=made, name=f"annotator-{n % PEOPLE}")
    given = turn(annotator).assignment
    with transaction.atomic():
        places.close(given)
    return 1000 * (time.perf_counter() - start)


def compare(items: int) -> None:
    begins, late = campaign(f"begins-{items}", items), campaign(f"late-{items}", items)
    fast_forward(late, 0.8)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    for made in (begins, late):
        for n in range(PEOPLE):
            judgment(made, n)  # the first time, a person's past is summed
    turns = min(TURNS, items // 2)  # what is left at 80 %, less a little
    taken = {made: [] for made in (begins, late)}
    for n in range(turns):
        for made in taken:
            taken[made].append(judgment(made, n))
    first, last = (median(times) for times in taken.values())
    times = f"{first:.1f} ms at the start, {last:.1f} ms at 80 % done, ratio {last / first:.2f}"
    print(f"{connection.vendor}, {items} items: {times}", flush=True)


def main() -> None:
    runner = DiscoverRunner(verbosity=0, interactive=False)
    databases = runner.setup_databases()
    try:
        for items in map(int, sys.argv[1:] or ["1000", "20000"]):
            compare(items)
    finally:
        runner.teardown_databases(databases)


if __name__ == "__main__":
    main()

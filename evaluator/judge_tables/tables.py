"""The judges' table of a campaign as a page reads it: worked out by a job, once for what went into it. No torch here."""

import hashlib
import json
from collections.abc import Iterable, Sequence

from django.db import transaction

from annotation import jobs
from annotation.models import AuditEvent, Campaign, Job, Snapshot
from annotation.snapshots import latest_snapshot
from core.errors import Refused, quoted
from core.version import code_version
from evaluator.judge_tables.exports import PAIRS
from evaluator.models import JudgesTable
from evaluator.roster import SET_UP
from evaluator.versions.registry import comparator_in_use
from evaluator.versions.selectors import basis

TASK = "evaluator.tasks.set_beside_people"


@transaction.atomic
def start(
    campaign: Campaign, annotators: str, criterion: str | None = None, seed: int = 0, user=None, judges: Sequence[str] = ()
) -> tuple[JudgesTable, bool]:
    """(the table of the newest snapshot, whether a job was started for it): one that reads the same is not worked out again.
    judges: names of those that are set up and are asked too, within their budgets. Raises Refused where nothing is accepted
    yet, or the criterion is not in it."""
    Campaign.objects.select_for_update().get(pk=campaign.pk)  # two clicks make one job
    snapshot = latest_snapshot(campaign)
    if snapshot is None:
        raise Refused(f"Campaign {campaign.slug!r} has no accepted judgments yet; assess its quality first.")
    chosen = basis(snapshot, criterion or None).criterion
    if unknown := set(judges) - set(campaign.judges.filter(kind__in=SET_UP).values_list("name", flat=True)):
        raise Refused(f"No judge {quoted(min(unknown))} is set up in campaign {campaign.slug!r}.")
    key = key_of(campaign, snapshot, chosen, annotators, seed, judges)
    known = campaign.judges_tables.filter(key=key).exclude(job__status__in=[Job.Status.FAILED, Job.Status.CANCELLED]).first()
    if known is not None:
        return known, False
    job = jobs.enqueue(TASK, f"Compare the judges of {campaign.slug} with people"[:200], campaign=campaign, user=user)
    made = JudgesTable.objects.create(
        job=job,
        campaign=campaign,
        snapshot=snapshot,
        criterion=chosen,
        annotators=annotators,
        seed=seed,
        judges=sorted(judges),
        key=key,
    )
    AuditEvent.objects.create(campaign=campaign, user=user, action="judges evaluated", detail={"job": str(job.pk)})
    return made, True


@transaction.atomic
def keep(campaign: Campaign, snapshot: Snapshot, record: dict) -> JudgesTable:
    """A table that a command worked out, for the page: it may have judges that no job can ask. Its job is done."""
    about = record["criterion"] if record["criterion"] != PAIRS else "", record["annotators"], record["seed"]
    title = f"Set the judges of {campaign.slug} beside people, by a command"[:200]
    job = jobs.enqueue(TASK, title, campaign=campaign, foreground=True)
    with jobs.claim(job.pk) as claim:
        claim.report(1.0, "Done")
    digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()  # of no job's inputs: a job is not spared
    return JudgesTable.objects.create(
        job=job,
        campaign=campaign,
        snapshot=snapshot,
        criterion=about[0],
        annotators=about[1],
        seed=about[2],
        key=digest,
        record=record,
    )


def refuse_without_table(campaigns: Iterable[Campaign]) -> None:
    for campaign in campaigns:
        if shown(campaign)[0] is None:
            raise Refused(
                f"The page of judges of {campaign.slug!r} has no table yet; run evaluate_judges {campaign.slug} --page."
            )


@transaction.atomic
def add_transfer(campaigns: Iterable[Campaign], record: dict) -> None:
    """Beside each campaign's newest table: what its page shows of `transfer_judges`."""
    for campaign in campaigns:
        table, _ = shown(campaign)
        assert table is not None and table.record is not None
        table.record["transfer"] = record
        table.save(update_fields=["record"])


def key_of(
    campaign: Campaign, snapshot: Snapshot, criterion: str, annotators: str, seed: int, judges: Sequence[str] = ()
) -> str:
    """SHA-256 of all that the table depends on."""
    version = comparator_in_use(campaign)
    imported = campaign.imported_scores.order_by("judge__name", "output_id").values_list("judge__name", "output_id", "value")
    pairs = campaign.imported_pairs.order_by("judge__name", "output_a_id", "output_b_id")
    of_pairs = pairs.values_list("judge__name", "output_a_id", "output_b_id", "p_a", "p_tie", "p_b")
    references = campaign.contexts.order_by("pk").values_list("pk", "references__text")
    what = [snapshot.digest, criterion, annotators, seed, code_version(), version and version.name, [*imported], [*references]]
    what += [[*of_pairs]] if of_pairs else []
    what += [[*campaign.judges.filter(name__in=judges).order_by("name").values_list("name", "digest")]] if judges else []
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def shown(campaign: Campaign) -> tuple[JudgesTable | None, list[Job]]:
    """(the newest table that is worked out, jobs that a page shows: those not finished, and the latest where it failed)"""
    tables = list(campaign.judges_tables.select_related("job", "snapshot")[:20])
    done = next((table for table in tables if table.record is not None), None)
    open_jobs = [t.job for i, t in enumerate(tables) if not t.job.is_finished or (i == 0 and t.job.status == Job.Status.FAILED)]
    return done, open_jobs

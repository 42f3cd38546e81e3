"""Starting a training. The training itself is in worker/train.py, which no web process imports."""

from collections.abc import Sequence

from django.db import transaction

from annotation import jobs
from annotation.models import AuditEvent, Campaign, Job, Snapshot
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator.comparator.settings import Settings
from evaluator.models import TrainingRun
from evaluator.selectors import Basis, base_for, basis, others_in

TASK = "evaluator.tasks.train"
MAX_SEED = 2**31 - 1
UNMEASURED = "It learned without human judgments, and was not measured on people during training."


@transaction.atomic
def start_training(
    campaigns,
    criterion: str | None = None,
    seed: int = 0,
    user=None,
    foreground: bool = False,
    recipe: dict | None = None,
    others: Sequence[str] = (),
    beside: Sequence[Campaign] = (),
    base: str | None = None,
) -> TrainingRun:
    """Record a training on the latest snapshot of each campaign, and its job; where the recipe leaves people's judgments
    out, on what the campaigns hold without them.

    criterion   whose scores; "" for judgments of pairs alone; None lets each campaign's own default decide, and the first
                of those that are measured names the comparator
    foreground  the caller runs the job itself (evaluator.tasks.run)
    recipe      fields of comparator.settings.Settings that differ from their defaults
    others      criteria learnt beside, from the campaigns that have scores for them
    beside      further campaigns whose judgments are learnt from, and on which the comparator is not measured
    base        name of a base to start from, "none", or None for the default one (selectors.base_for)
    """
    campaigns = list(dict.fromkeys(campaigns))
    if not campaigns:
        raise Refused("Name at least one campaign to learn from.")
    check_seed(seed)
    start = base_for(recipe or {}, base)
    lent = [campaign.slug for campaign in dict.fromkeys(beside) if campaign not in campaigns]
    campaigns += [campaign for campaign in dict.fromkeys(beside) if campaign not in campaigns]
    joint = (recipe or {}).get("architecture") == "joint"
    snapshots, found = _basis_of(campaigns, criterion, others, Settings(**(recipe or {})).human)
    first = next((b.criterion for slug, b in found.items() if b.criterion and slug not in lent), "")
    settings = {
        "sources": {slug: [b.criterion, b.judgments] for slug, b in found.items()},
        "recipe": (recipe or {}) | ({"base": start} if start else {}),
    }
    others = [name for name in dict.fromkeys(others) if name != first]
    doubts = _doubts(snapshots, others)
    if others and joint:
        raise Refused("A joint comparator learns one criterion; name one, or train a utility comparator.")
    settings |= ({"others": others} if others else {}) | ({"beside": lent} if lent else {})
    if not foreground:
        _refuse_the_same_twice(campaigns[0], snapshots, settings, seed)
    title = f"Train a comparator on {', '.join(slug for slug in found if slug not in lent)}"
    job = jobs.enqueue(TASK, title[:200], campaign=campaigns[0], user=user, foreground=foreground)
    run = TrainingRun.objects.create(
        job=job,
        criterion=first,
        seed=seed,
        settings=settings,
        warning=" ".join([*dict.fromkeys(b.warning for b in found.values() if b.warning), *doubts]),
    )
    run.campaigns.set(campaigns)
    run.snapshots.set(snapshots)
    for campaign in campaigns:
        detail = {"job": str(job.pk), "criterion": run.criterion, "seed": seed}
        AuditEvent.objects.create(campaign=campaign, user=user, action="training started", detail=detail)
    return run


def _basis_of(
    campaigns: Sequence[Campaign], criterion: str | None, others: Sequence[str], human: bool
) -> tuple[list[Snapshot], dict[str, Basis]]:
    """The snapshots that are learnt from, and by slug what is taken of each campaign. human: whether people's judgments are."""
    if human:
        snapshots = [_snapshot(campaign) for campaign in campaigns]
        return snapshots, {c.slug: basis(snapshot, criterion) for c, snapshot in zip(campaigns, snapshots)}
    if criterion or others:
        raise Refused("A criterion is people's; without human judgments there is none to name.")
    return [], {c.slug: Basis("", False, UNMEASURED) for c in campaigns}


def _doubts(snapshots: list[Snapshot], names: list[str]) -> list[str]:
    """Why the scores by the named criteria are not above every doubt. Raises Refused where no snapshot has any."""
    found = [others_in(snapshot, names) for snapshot in snapshots]
    for name in names:
        if not any(name in there for there in found):
            where = " or ".join(f"{s.name} of campaign {s.campaign.slug!r}" for s in snapshots)
            raise Refused(f"There are no scores for the criterion {name!r} in snapshot {where}.")
    return [warning for there in found for warning in there.values() if warning]


def check_seed(seed: int) -> None:
    if not 0 <= seed <= MAX_SEED:
        raise Refused(f"The seed must be a whole number from 0 to {MAX_SEED}, not {seed}.")


def _snapshot(campaign) -> Snapshot:
    snapshot = latest_snapshot(campaign)
    if snapshot is None:
        raise Refused(f"Campaign {campaign.slug!r} has no snapshot of accepted judgments yet; assess its quality first.")
    return snapshot


def _refuse_the_same_twice(campaign, snapshots, settings, seed) -> None:
    """A second click must not train the same comparator a second time."""
    waiting = campaign.training_runs.filter(job__status__in=[Job.Status.QUEUED, Job.Status.RUNNING], seed=seed)
    for run in waiting.prefetch_related("snapshots"):
        if run.settings == settings and {s.pk for s in run.snapshots.all()} == {s.pk for s in snapshots}:
            raise Refused("The same training, on the same judgments with the same seed, is already queued or running.")

"""What was frozen, and what changed from one snapshot to another."""

from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import Http404
from django.shortcuts import render

from annotation.access import campaign_for_researcher
from annotation.assessment.calculations import look_up
from annotation.jobs import worker_alive
from core.errors import Refused

DIFFERENCE = "Difference of two snapshots"
WITHOUT_CONTENT = ("content",)  # a snapshot's texts may be megabytes; no page shows them


def snapshots_of(campaign):
    """Newest first (which a query that counts does not say by itself), without their contents; mark_count: what became of
    them since."""
    rows = campaign.snapshots.select_related("created_by").defer(*WITHOUT_CONTENT).annotate(mark_count=Count("marks"))
    return rows.order_by("-accepted_at", "-pk")


@login_required
def snapshot(request, slug, digest):
    campaign = campaign_for_researcher(request.user, slug)
    shown = _named(campaign, digest)
    others = snapshots_of(campaign).exclude(pk=shown.pk)
    context = {"campaign": campaign, "marks": shown.marks.all(), "others": others, **decided(shown)}
    return render(request, "annotation/snapshot.html", context)


@login_required
def snapshot_difference(request, slug, digest):
    """?from=digest: what this snapshot holds that the other does not, and the other way round."""
    campaign = campaign_for_researcher(request.user, slug)
    new, old = _named(campaign, digest), _named(campaign, request.GET.get("from", ""))
    context = {"campaign": campaign, "old": old, "new": new}
    context |= worked_out(campaign, "difference", DIFFERENCE, request.user, {"old": old.digest, "new": new.digest})
    if changed := context["found"]:
        context["totals"] = [(kind, gone, changed["come"][kind]) for kind, gone in changed["gone"].items()]
    return render(request, "annotation/snapshot_difference.html", context)


def _named(campaign, digest: str):
    snapshot = snapshots_of(campaign).filter(digest__startswith=digest).first() if digest else None
    if snapshot is None:
        raise Http404
    return snapshot


def worked_out(campaign, what: str, title: str, user, settings: dict) -> dict:
    """The figures, or the job that works them out, or the sentence why there are none."""
    try:
        figures, job = look_up(campaign, what, title, user, **settings)
    except Refused as refused:
        return {"found": None, "job": None, "nothing": str(refused)}
    return {"found": figures, "job": job, "worker_alive": job is None or worker_alive()}


def decided(snapshot) -> dict:
    decisions = list(snapshot.decisions.select_related("criterion", "overruled_by"))
    return {
        "snapshot": snapshot,
        "score_decisions": [d for d in decisions if d.criterion_id and not d.on_pairs],
        "pair_decisions": [d for d in decisions if d.on_pairs or not d.criterion_id],
        "decisions": decisions,
    }

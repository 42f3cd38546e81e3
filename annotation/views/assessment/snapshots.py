"""What was frozen, and what changed from one snapshot to another."""

from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import Http404
from django.shortcuts import render

from annotation.access import campaign_for_researcher
from annotation.snapshots import difference

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
    new = _named(campaign, digest, with_content=True)
    old = _named(campaign, request.GET.get("from", ""), with_content=True)
    changed = difference(old, new)
    totals = [(kind, gone, changed.come[kind]) for kind, gone in changed.gone.items()]
    context = {"campaign": campaign, "old": old, "new": new, "changed": changed, "totals": totals}
    return render(request, "annotation/snapshot_difference.html", context)


def _named(campaign, digest: str, with_content: bool = False):
    rows = campaign.snapshots.select_related("created_by") if with_content else snapshots_of(campaign)
    snapshot = rows.filter(digest__startswith=digest).first() if digest else None
    if snapshot is None:
        raise Http404
    return snapshot


def decided(snapshot) -> dict:
    decisions = list(snapshot.decisions.select_related("criterion", "overruled_by"))
    return {
        "snapshot": snapshot,
        "score_decisions": [d for d in decisions if d.criterion_id and not d.on_pairs],
        "pair_decisions": [d for d in decisions if d.on_pairs or not d.criterion_id],
        "decisions": decisions,
    }

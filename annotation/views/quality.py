"""How far people agree, what is accepted, and the frozen result."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotation import services
from annotation.access import campaign_for_researcher
from annotation.assessment import assess
from annotation.errors import Refused
from annotation.forms import AssessForm, OverruleForm
from annotation.models import QualityDecision

WITHOUT_CONTENT = ("content",)  # a snapshot's texts may be megabytes; no page shows them


@login_required
def quality(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    snapshots = list(campaign.snapshots.select_related("created_by").defer(*WITHOUT_CONTENT))
    form = AssessForm(request.POST or None, initial=_last_rule(snapshots))
    if request.method == "POST" and form.is_valid():
        try:
            made = assess(campaign, **form.cleaned_data, user=request.user)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"Assessed. The accepted judgments are frozen as snapshot {made.name}.")
            return redirect("quality", slug)
    context = {"campaign": campaign, "form": form, "snapshots": snapshots}
    if snapshots:
        context |= _decided(snapshots[0])
    return render(request, "annotation/quality.html", context, status=422 if request.method == "POST" else 200)


@login_required
def snapshot(request, slug, digest):
    campaign = campaign_for_researcher(request.user, slug)
    found = campaign.snapshots.select_related("created_by").defer(*WITHOUT_CONTENT)
    found = found.filter(digest__startswith=digest).first()
    if found is None:
        raise Http404
    return render(request, "annotation/snapshot.html", {"campaign": campaign, **_decided(found)})


def _decided(found) -> dict:
    decisions = list(found.decisions.select_related("criterion", "overruled_by"))
    return {
        "snapshot": found,
        "score_decisions": [d for d in decisions if d.criterion_id],
        "pair_decision": next((d for d in decisions if not d.criterion_id), None),
        "decisions": decisions,
    }


def _last_rule(snapshots) -> dict:
    """The form starts from what was asked last."""
    return {k: v for k, v in (snapshots[0].rule if snapshots else {}).items() if k in AssessForm.base_fields}


@require_POST
@login_required
def overrule(request, slug, pk):
    campaign = campaign_for_researcher(request.user, slug)
    decision = get_object_or_404(QualityDecision, pk=pk, snapshot__campaign=campaign)
    form = OverruleForm(request.POST)
    try:
        reason = form.cleaned_data["reason"] if form.is_valid() else ""
        services.overrule(decision, request.user, reason)
        messages.success(request, "Overruled. Your reason is kept with the decision.")
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("snapshot", slug, decision.snapshot.name)

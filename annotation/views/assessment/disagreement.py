"""What people still disagree about, and which way of asking agrees better."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_researcher
from annotation.assessment import adjudication
from annotation.assessment.calculations import follow
from annotation.assessment.disagreement import MOST, listed, with_texts
from annotation.campaigns.study import design_study
from annotation.forms import AdjudicationForm, StudyForm
from annotation.jobs import worker_alive
from annotation.views.assessment.agreement import last_rule
from annotation.views.assessment.snapshots import snapshots_of, worked_out
from annotation.views.paging import paged
from core.errors import Refused

SHOWN = 10


@login_required
def disagreement(request, slug):
    """The open ones, the widest first, and what was settled."""
    campaign = campaign_for_researcher(request.user, slug)
    rule = last_rule(list(snapshots_of(campaign)[:1]))
    settings = {"mad": rule["mad"], "on_zero_mad": rule["on_zero_mad"]}
    followed = follow(campaign, "disagreement", "Disagreement", request.user, **settings)
    page = paged(request, listed(campaign, followed.result) if followed.result else [], SHOWN)
    page.object_list = with_texts(list(page.object_list))
    about = ["criterion", "output__system", "output__context", "other__system", "decided_by"]
    settled = campaign.adjudications.select_related(*about)
    context = {
        "campaign": campaign,
        "page": page,
        "rule": rule,
        "followed": followed,
        "more": max(0, followed.result["count"] - MOST) if followed.result else 0,
        "job": followed.job,
        "worker_alive": followed.job is None or worker_alive(),
        "settled": paged(request, settled, name="settled"),
    }
    return render(request, "annotation/quality_disagreement.html", context)


@require_POST
@login_required
def settle(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    form = AdjudicationForm(request.POST)
    try:
        if not form.is_valid():
            raise Refused(next(iter(form.errors.values()))[0])
        data = form.cleaned_data
        adjudication.adjudicate(campaign, request.user, *data["key"], data["believed"], data["reason"])
        messages.success(request, "Decided. Later snapshots use this decision; the answers themselves do not change.")
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("quality_disagreement", slug)


@login_required
def study(request, slug):
    """GET: both protocols side by side. POST: draw the outputs to ask about in both ways."""
    campaign = campaign_for_researcher(request.user, slug)
    form = StudyForm(request.POST or None)
    if form.is_bound and form.is_valid():
        try:
            item_count = design_study(campaign, request.user, form.cleaned_data["outputs"])
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"{item_count} items are now waiting for annotators, in addition to the earlier ones.")
            return redirect("quality_study", slug)
    context = {"campaign": campaign, "form": form}
    context |= worked_out(campaign, "study", "Two ways of asking", request.user, {})
    return render(request, "annotation/quality_study.html", context, status=422 if form.is_bound else 200)

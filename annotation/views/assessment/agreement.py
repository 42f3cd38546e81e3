"""How far people agree, what a filter would do, what is accepted."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_researcher
from annotation.assessment import charts, decisions
from annotation.assessment.acceptance import accept, under_way
from annotation.assessment.annotator_review import to_check
from annotation.assessment.asked_for import question_named, set_aim
from annotation.assessment.dependence import group_by
from annotation.forms import AimForm, AssessForm, OverruleForm
from annotation.jobs import worker_alive
from annotation.models import Output, QualityDecision, Snapshot
from annotation.views.assessment.snapshots import decided, snapshots_of, worked_out
from annotation.views.paging import paged, searched
from core.errors import Refused

SNAPSHOTS_SHOWN = 20
DEFAULT = {"mad": 1.0, "level": "ordinal", "on_zero_mad": "drop", "verdict": ""}


@login_required
def quality(request, slug):
    """GET: where things stand. POST: accept a rule, as the preview's button does."""
    campaign = campaign_for_researcher(request.user, slug)
    form = AssessForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = accept(campaign, request.user, request.POST.get("seen") or None, **form.cleaned_data)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            if isinstance(made, Snapshot):
                messages.success(request, f"Accepted. The kept judgments are frozen as snapshot {made.name}.")
            return redirect("quality", slug)
    found, asked = searched(request, snapshots_of(campaign), "digest", "created_by__username", name="snapshot")
    snapshots = list(snapshots_of(campaign)[:1])
    if not form.is_bound:
        form = AssessForm(initial=last_rule(snapshots))
    context = {
        "campaign": campaign,
        "form": form,
        "snapshots": paged(request, found, SNAPSHOTS_SHOWN, "snapshots"),
        "asked": asked,
        "freezing": under_way(campaign),
        **worked_out(campaign, "pictures", "Agreement over time and the map of outliers", request.user, last_rule(snapshots)),
    }
    if context["freezing"]:
        context["worker_alive"] = worker_alive()
    for question in (context["found"] or {}).get("questions", []):
        question["chart"] = charts.over_time(question["over_time"])
        question["map_chart"] = charts.outlier_map(question["map"])
    if snapshots:
        context |= decided(snapshots[0])
    return render(request, "annotation/quality.html", context, status=422 if request.method == "POST" else 200)


@login_required
def preview(request, slug):
    """What a rule would drop and change. Nothing is decided here."""
    campaign = campaign_for_researcher(request.user, slug)
    rule = request.GET.dict() or last_rule(list(snapshots_of(campaign)[:1]))
    form = AssessForm(rule)
    context = {"campaign": campaign, "form": form}
    if not form.is_valid():
        return render(request, "annotation/quality_preview.html", context, status=422)
    context |= worked_out(campaign, "preview", "Preview of the filter", request.user, form.cleaned_data)
    if context["found"]:
        _name_outputs(context["found"]["questions"])
    return render(request, "annotation/quality_preview.html", context)


@login_required
def annotators(request, slug):
    """A card for each annotator, the most suspicious first."""
    campaign = campaign_for_researcher(request.user, slug)
    context = {"campaign": campaign} | worked_out(campaign, "annotators", "Comparison of annotators", request.user, {})
    if figures := context["found"]:
        context["chart"] = charts.agreement_by_annotator(figures["people"][: charts.PEOPLE])
        context["to_check"] = to_check(figures)
    return render(request, "annotation/quality_annotators.html", context)


def _name_outputs(questions: list[dict]) -> None:
    """Put the outputs beside their ids, in one query."""
    outputs = Output.objects.select_related("system", "context").in_bulk(
        {answer["output"] for question in questions for answer in question["answers"]}
    )
    for question in questions:
        for answer in question["answers"]:
            answer["output"] = outputs.get(answer["output"])


def last_rule(snapshots) -> dict:
    """What was asked last, or the rule a newcomer starts from."""
    rule = snapshots[0].rule if snapshots else {}
    return {name: rule.get(name, value) for name, value in DEFAULT.items()}


@require_POST
@login_required
def aim(request, slug):
    """What a question asks for, for assessments to come."""
    campaign, form = campaign_for_researcher(request.user, slug), AimForm(request.POST)
    try:
        if not form.is_valid():
            raise Refused("Give a reason. It is stored with what the question asks for.")
        asked = form.cleaned_data
        set_aim(campaign, question_named(campaign, asked["question"]), asked["asks"], request.user, asked["reason"])
        messages.success(request, "Stored. Preview and accept a filter again: snapshots that are there keep their verdicts.")
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("quality", slug)


@require_POST
@login_required
def group(request, slug):
    """Contexts that are not independent, as one group, or apart again."""
    campaign = campaign_for_researcher(request.user, slug)
    try:
        changed = group_by(campaign, request.POST.get("by", ""), request.user)
        messages.success(request, f"{changed:,} contexts changed their group. Boards that are played from now on count groups.")
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("quality_preview", slug)


@require_POST
@login_required
def overrule(request, slug, pk):
    campaign = campaign_for_researcher(request.user, slug)
    decision = get_object_or_404(QualityDecision, pk=pk, snapshot__campaign=campaign)
    form = OverruleForm(request.POST)
    try:
        reason = form.cleaned_data["reason"] if form.is_valid() else ""
        decisions.overrule(decision, request.user, reason)
        messages.success(request, "Overruled. Your reason is stored with the decision.")
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("snapshot", slug, decision.snapshot.name)

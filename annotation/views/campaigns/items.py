"""The items of a campaign: who judged them, the reports about them, their known answers."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotation import answers
from annotation.access import campaign_for_researcher
from annotation.annotating.item_page import LETTERS, number
from annotation.answers import Filters
from annotation.campaigns import item_reports, known_answers
from annotation.campaigns.item_list import STATES, item_with_texts, items_with_report_counts
from annotation.forms import KnownAnswerForm
from annotation.models import ItemReport
from annotation.views.paging import paged, searched
from core.errors import Refused


@login_required
def item_list(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    state, taken = request.GET.get("state", ""), request.GET.get("taken", "")
    system = Filters.of(request.GET).system
    rows, asked = searched(request, items_with_report_counts(campaign, state, system, number(taken)), "output__context__key")
    context = {
        "campaign": campaign,
        "page": paged(request, rows),
        "state": state,
        "states": STATES,
        "taken": taken,
        "asked": asked,
        "system": system,
        "systems": campaign.systems.all(),
    }
    return render(request, "annotation/items.html", context)


@login_required
def item(request, slug, pk):
    campaign = campaign_for_researcher(request.user, slug)
    item = item_with_texts(campaign, pk)
    if item is None:
        raise Http404
    form = KnownAnswerForm(request.POST or None, item=item, criteria=campaign.criteria.all())
    if request.method == "POST" and form.is_valid():
        try:
            known_answers.mark_known(item, form.cleaned_data["purpose"], form.expected(), request.user)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, "The known answer is set. The item is no longer part of the evaluation.")
            return redirect("item", slug, pk)
    systems = ("output_a__system", "output_b__system") if item.size > 2 else ()
    related = ("annotator", "criterion", "submission", *systems)
    context = {
        "campaign": campaign,
        "item": item,
        "lettered": list(zip(LETTERS, item.texts)),
        "not_of_a_ranking": known_answers.NOT_OF_A_RANKING,
        "form": form,
        "page": paged(request, answers.about(item).select_related(*related).order_by("criterion", "pk")),
        "reports": paged(request, item.reports.select_related("annotator__user", "resolved_by", "replied_by"), name="reports"),
    }
    return render(request, "annotation/item_answers.html", context, status=422 if request.method == "POST" else 200)


@require_POST
@login_required
def unmark(request, slug, pk):
    campaign = campaign_for_researcher(request.user, slug)
    item = item_with_texts(campaign, pk)
    if item is None:
        raise Http404
    try:
        known_answers.unmark_known(item, request.user)
        messages.success(request, "The item is part of the evaluation again.")
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("item", slug, pk)


@require_POST
@login_required
def resolve(request, slug, pk):
    campaign = campaign_for_researcher(request.user, slug)
    report = get_object_or_404(ItemReport, pk=pk, item__campaign=campaign)
    known_answers.resolve(report, request.user)
    return redirect("item", slug, report.item_id)


def sent_at(report: ItemReport) -> str:
    """When the reply was sent that is there, as the form holds it."""
    return report.replied_at.isoformat() if report.replied_at else ""


@require_POST
@login_required
def reply(request, slug, pk):
    campaign = campaign_for_researcher(request.user, slug)
    report = get_object_or_404(ItemReport, pk=pk, item__campaign=campaign)
    words, was_seen = request.POST.get("reply", ""), request.POST.get("seen") == sent_at(report)
    try:
        item_reports.reply(report, request.user, words, seen=report.replied_at if was_seen else None)
    except Refused as refused:
        context = {"campaign": campaign, "report": report, "refused": refused, "words": words}
        return render(request, "annotation/reply.html", context, status=422)
    messages.success(request, "Sent. No other annotator sees your reply.")
    return redirect("item", slug, report.item_id)

"""How a campaign is going, and the answers behind every figure."""

from django.contrib.auth.decorators import login_required
from django.shortcuts import render
from django.utils import timezone

from annotation import answers
from annotation.access import campaign_for_researcher
from annotation.answers import Filters
from annotation.assessment import live
from annotation.campaigns.item_list import reports
from annotation.campaigns.overview import annotators_with_counts
from annotation.views.paging import paged

REPORTS_SHOWN = 10


@login_required
def progress(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    filters = Filters.of(request.GET)
    names = _names(campaign)
    people = paged(request, annotators_with_counts(campaign), name="people")
    shown = list(people)
    live.annotator_figures(shown)
    scores = live.score_figures(campaign, filters, names["criteria"])
    pairs = live.pair_figures(campaign, filters)
    systems = {system.pk: system for system in names["systems"]}
    for row in [row for figure in scores for row in figure["systems"]] + (pairs["systems"] if pairs else []):
        row["system"] = systems[row["system"]]
    by_system = live.system_progress(campaign)
    context = {
        "campaign": campaign,
        "filters": filters,
        **names,
        "now": timezone.now(),
        "items": live.item_progress(campaign),
        "by_system": [(system, by_system[system.pk]) for system in names["systems"] if system.pk in by_system],
        "scores": scores,
        "pairs": pairs,
        "times": live.time_figures(campaign, filters),
        "people": people,
        "shown": shown,
        "reports": paged(request, reports(campaign), REPORTS_SHOWN, "reports"),
    }
    return render(request, "annotation/live.html", context)


@login_required
def answer_list(request, slug):
    """The single scores or judgments behind a figure."""
    campaign = campaign_for_researcher(request.user, slug)
    filters = Filters.of(request.GET)
    is_pairs = request.GET.get("kind") == "judgments"
    rows = answers.judgments(campaign, filters) if is_pairs else answers.scores(campaign, filters)
    texts = ["output_a__context", "output_a__system", "output_b__system"] if is_pairs else ["output__context", "output__system"]
    page = paged(request, rows.select_related("annotator", "criterion", "submission", *texts).order_by("-pk"))
    context = {"campaign": campaign, "filters": filters, "page": page, "is_pairs": is_pairs, **_names(campaign)}
    return render(request, "annotation/answer_list.html", context)


def _names(campaign) -> dict:
    """What a page can be narrowed by."""
    return {
        "criteria": list(campaign.criteria.all()),
        "systems": list(campaign.systems.all()),
        "annotators": list(campaign.annotators.order_by("name").values_list("pk", "name")),
    }

"""How a campaign is going, and the answers behind every figure."""

from dataclasses import asdict
from datetime import datetime

from django.contrib.auth.decorators import login_required
from django.shortcuts import render
from django.utils import timezone

from annotation import answers
from annotation.access import campaign_for_researcher
from annotation.answers import Filters
from annotation.assessment import live
from annotation.assessment.calculations import follow
from annotation.campaigns.item_list import reports
from annotation.campaigns.overview import ByAnswers
from annotation.jobs import worker_alive
from annotation.models import Campaign
from annotation.views.assessment import live_plots
from annotation.views.paging import paged

PEOPLE_SHOWN, REPORTS_SHOWN = 20, 10


@login_required
def progress(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    filters = Filters.of(request.GET)
    names = _names(campaign)
    narrowed = {name: value for name, value in asdict(filters).items() if value is not None}
    followed = follow(campaign, "progress", "Progress", request.user, **narrowed)
    counts = follow(campaign, "people", "Answers by person", request.user)
    people = paged(request, ByAnswers(campaign.annotators.all(), counts.part("counts")), PEOPLE_SHOWN, "people")
    shown = list(people)
    live.annotator_figures(shown)
    said_below = _said_below(campaign, followed.as_of or timezone.now(), bool(narrowed))
    waiting = {"job": followed.job, "worker_alive": worker_alive()} if not followed.result else {}
    context = {
        "campaign": campaign,
        "filters": filters,
        **names,
        "now": timezone.now(),
        "followed": followed,
        **(_shown(followed.result, names, said_below) if followed.result else waiting),
        "counts": counts,
        "people": people,
        "shown": shown,
        "narrowed_to": _words(filters, names),
        "open_reports": reports(campaign).filter(resolved_at=None).count(),
        "reports": paged(request, reports(campaign), REPORTS_SHOWN, "reports"),
    }
    return render(request, "annotation/live.html", context)


def _words(filters: Filters, names: dict) -> str:
    """What the page is narrowed to: names of a criterion, a system, an annotator."""
    criteria, systems = ({one.pk: one.name for one in names[part]} for part in ("criteria", "systems"))
    asked = (criteria, filters.criterion), (systems, filters.system), (dict(names["annotators"]), filters.annotator)
    return ", ".join(by_id.get(one, "something that is gone") for by_id, one in asked if one is not None)


def _said_below(campaign: Campaign, as_of: datetime, is_narrowed: bool) -> str:
    """What leaves with a picture of these figures."""
    lines = [f"{campaign.title}, as of {as_of:%Y-%m-%d %H:%M} UTC: answers that count, before any filter and any verdict."]
    lines += ["Of some systems, annotators or criteria alone."] if is_narrowed else []
    return "\n".join(lines + (["Some or all answers are simulated: a program made them."] if campaign.is_simulated else []))


def _shown(figures: dict, names: dict, said_below: str) -> dict:
    """The figures with their criteria and systems, those that are there still, and their pictures."""
    criteria, systems = ({one.pk: one for one in names[part]} for part in ("criteria", "systems"))

    def named(rows: list[dict]) -> list[dict]:
        return [row | {"system": systems[row["system"]]} for row in rows if row["system"] in systems]

    pairs, by_system = figures["pairs"], {row["system"]: row for row in figures["by_system"]}
    scores = [
        figure | {"criterion": criteria[figure["criterion"]], "systems": named(figure["systems"])}
        for figure in figures["scores"]
        if figure["criterion"] in criteria
    ]
    pairs = pairs and pairs | {"systems": named(pairs["systems"])}
    people, is_alone = dict(names["annotators"]), len(scores) == 1
    plots = [live_plots.of_scores(figure, people, is_alone, said_below) for figure in scores]
    return {
        "items": figures["items"],
        "by_system": [(system, by_system[pk]) for pk, system in systems.items() if pk in by_system],
        "scores": [figure | {"is_alone": is_alone, "plots": of_it} for figure, of_it in zip(scores, plots)],
        "pairs": pairs and pairs | {"plots": live_plots.of_pairs(pairs, said_below)},
        "times": figures["times"],
    }


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

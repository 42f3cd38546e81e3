"""Trainings that are watched: their list, one of them, and what is chosen of it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_researcher
from annotation.jobs import worker_alive
from annotation.views.paging import paged, searched
from core.errors import Refused
from leaderboard.runs import charts, choice, costs, overview, registry

ROWS = 100  # checkpoints in the table of numbers
UNFOLDED = 2  # contexts whose texts stand open


@login_required
def run_list(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    found, asked = searched(request, overview.of_campaign(campaign), "name")
    page = paged(request, found)
    rows = [overview.row(run) for run in page]
    for row in rows:
        row["spark"] = charts.sparkline(row["strengths"])
    judges = costs.choices(campaign)
    context = {
        "campaign": campaign,
        "rows": rows,
        "page": page,
        "asked": asked,
        "judges": [one for one in judges if one.cost.low is not None],
        "unmeasured": [one.name for one in judges if one.cost.low is None],
        "server": request.build_absolute_uri("/")[:-1],
    }
    return render(request, "leaderboard/runs.html", context)


@login_required
def run(request, slug, name):
    campaign = campaign_for_researcher(request.user, slug)
    found = overview.run_named(campaign, name)
    whole = overview.of_run(found)
    context = {
        "campaign": campaign,
        "run": whole,
        "said": _below(whole),
        "charts": charts.of_run(whole),
        "rows": [(point, charts.balance(point)) for point in reversed(whole["points"][-ROWS:])],
        "best_known": whole["best_known"],
        "worker_alive": worker_alive() if whole["waiting"] else True,
        **_side_by_side(request, found, whole),
    }
    return render(request, "leaderboard/run.html", context)


def _below(whole) -> list[str]:
    """What is said, without the warnings that stand above the verdict."""
    error = (whole["job"] or {}).get("error")
    return [line for line in whole["said"] if line != whole["judge"]["warning"] and not (error and error in line)]


def _side_by_side(request, found, whole) -> dict:
    """What two checkpoints wrote: those that the address names, else the best one and the newest other."""
    steps = list(found.checkpoints.exclude(digest="").values_list("step", flat=True))
    if not steps:
        return {"steps": []}
    best = whole["best"]["step"] if whole["best"] else steps[0]
    others = [step for step in steps if step != best] or [best]
    first, second = (_number(request.GET.get(name), default) for name, default in (("a", best), ("b", others[-1])))
    texts = overview.texts(found, [first, second], _number(request.GET.get("page"), 1))
    contexts = {
        context.key: context for context in found.campaign.contexts.filter(key__in=[r["context_id"] for r in texts["rows"]])
    }
    for row in texts["rows"]:
        row["context"] = contexts.get(row["context_id"])
        row["a"], row["b"] = row["texts"].get(first), row["texts"].get(second)
    addresses = [f"?a={first}&b={second}&page={number}#texts" for number in (texts["page"] - 1, texts["page"] + 1)]
    return {
        "steps": steps,
        "first": first,
        "second": second,
        "low": min(first, second),
        "high": max(first, second),
        "texts": texts,
        "unfolded": UNFOLDED,
        "systems": choice.systems_of(found),
        "before": addresses[0],
        "after": addresses[1],
    }


def _number(text: str | None, default: int) -> int:
    if text is None:
        return default
    if not text.isdecimal() or len(text) > 10:
        raise Http404
    return int(text)


@require_POST
@login_required
def run_choose(request, slug, name):
    """One checkpoint plays on the board, or people are asked about two."""
    campaign = campaign_for_researcher(request.user, slug)
    found = overview.run_named(campaign, name)
    step, beside = (_number(request.POST.get(field), -1) for field in ("step", "beside"))
    try:
        if "people" in request.POST:
            chosen = choice.for_people(found, step, beside, request.user)
            said = f"{chosen.pairs:,} pairs of step {step:,} and step {beside:,} come next in what people are asked."
        else:
            chosen = choice.for_board(found, step, request.user)
            said = f"Step {step:,} plays as {chosen.systems[0]}. The next tournament rates it."
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, " ".join([said, *chosen.said]))
    return redirect(f"{reverse('run', args=[slug, found.name])}#texts")


@require_POST
@login_required
def run_close(request, slug, name):
    campaign = campaign_for_researcher(request.user, slug)
    registry.close(overview.run_named(campaign, name), request.user)
    messages.success(request, "The run takes no more checkpoints. What it has stays.")
    return redirect("run", slug, name)


@login_required
def run_csv(request, slug, name):
    found = overview.run_named(campaign_for_researcher(request.user, slug), name)
    response = HttpResponse(overview.as_csv(found), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-run.csv"'
    return response

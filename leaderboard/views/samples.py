"""The sample explorer: one context, all outputs, what people said and what the comparator said. For researchers."""

from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import get_object_or_404, render

from annotation.annotating.item_page import number
from annotation.models import Context
from annotation.views.paging import paged, searched
from leaderboard.access import tournament_for
from leaderboard.boards import charts, queries, samples, wording
from leaderboard.models import Tournament
from leaderboard.views.common import JUDGE, PEOPLE, asked_or_404, member_page


@login_required
def sample_list(request, slug):
    context = member_page(request, slug, "samples")
    shown = _board(request, context["campaign"])
    context["tournament"] = shown
    if shown:
        context |= _of_board(shown)
        found, context["asked"] = searched(request, samples.contexts(shown), "context__key")
        context["page"] = paged(request, found, samples.PER_PAGE)
    return render(request, "leaderboard/samples.html", context)


@login_required
def sample(request, slug, pk):
    context = member_page(request, slug, "samples")
    shown = _board(request, context["campaign"])
    asked = get_object_or_404(Context, pk=pk, campaign=context["campaign"])
    if shown is None:
        raise Http404
    outputs, scores = samples.outputs(shown, asked), samples.scores(asked)
    criteria = list(dict.fromkeys(name for by_criterion in scores.values() for name in by_criterion))
    rows = [
        {"result": r, "scores": [scores.get(r.output_id, {}).get(name) for name in criteria], "difference": _difference(r)}
        for r in outputs
    ]
    context |= _of_board(shown) | {
        "tournament": shown,
        "sample": asked,
        "rows": rows,
        "criteria": criteria,
        "judgments": samples.judgments(asked),
        "found": shown.contexts.filter(context=asked).first(),
        "chart": charts.dumbbells(outputs),
    }
    return render(request, "leaderboard/sample.html", context)


def _of_board(shown: Tournament) -> dict:
    """What must be said with its shares, and who judged beside people."""
    board = queries.alone(shown, live=True, today=True)
    return {"board": board, "judge": wording.judge_name(board).removeprefix("the ")}


def _difference(result) -> float | None:
    return None if None in (result.people, result.comparator) else result.comparator - result.people


def _board(request, campaign) -> Tournament | None:
    """The tournament that the address names; else the newest board, the comparator's first: it can quarrel with people."""
    if (named := number(request.GET.get("tournament"))) is not None:
        found = tournament_for(request.user, named)
        if found.campaign_id != campaign.pk or found.finished_at is None:
            raise Http404
        return found
    asked, criterion = asked_or_404(request), request.GET.get("criterion")
    boards = (
        queries.latest(campaign, basis, criterion, judge=asked.judge)
        for basis in ([asked.basis] if asked.basis else [JUDGE, PEOPLE])
    )
    return next(filter(None, boards), None)

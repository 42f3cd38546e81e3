"""The newest board, a tournament's permalink, and what sets them going."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required, login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_POST

from annotation import jobs
from annotation.access import campaign_for_researcher
from annotation.models import Campaign
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from leaderboard.access import is_member, tournament_for
from leaderboard.boards import charts, exports, queries
from leaderboard.boards.board import Board
from leaderboard.boards.slices import asked_slice, headline, on_slice, slices
from leaderboard.forms import BoardForm, PlayForm
from leaderboard.models import Tournament
from leaderboard.tournaments import active_selection, start
from leaderboard.views.common import (
    JUDGE,
    PEOPLE,
    asked_board,
    board_links,
    board_query,
    confidence_of,
    member_page,
    public_page,
    sign_in_first,
)

FILES = {
    "csv": (exports.as_csv, "text/csv; charset=utf-8"),
    "tex": (exports.as_latex, "text/x-tex; charset=utf-8"),
    "svg": (exports.as_svg, "image/svg+xml"),
}


@login_not_required
def public(request):
    """The index of public boards, for those who are signed in too."""
    return render(request, "leaderboard/public.html")


@sign_in_first
def leaderboard(request, slug):
    context = public_page(request, slug, "standings")
    campaign = context["campaign"]
    shown = asked_board(request, campaign)
    context |= {"boards": board_links(campaign, shown), "snapshot": latest_snapshot(campaign)}
    if context["member"]:
        context |= {"open": queries.open_tournaments(campaign), "worker_alive": jobs.worker_alive()}
    if shown:
        context["judge_and_criterion"] = board_query(*queries.asked_by(shown), shown.criterion)
        context |= shown_board(shown, True, request.GET.get("population", "")) | {"confidence": confidence_of(shown)}
        context |= shown_slice(context["board"], request.GET.get("slice", ""))
        context["chosen"] = queries.chosen_by_default(shown, request.GET.get("criterion"))
        if campaign.board_is_public:
            address = f"{reverse('board_embed', args=[slug])}?{context['judge_and_criterion']}"
            of_whom = "" if context["sliced"] else context["view"].replace("?", "&")
            context["embed_address"] = request.build_absolute_uri(f"{address}{of_whom}")
    return render(request, "leaderboard/leaderboard.html", context)


@xframe_options_exempt
@login_not_required
def embed(request, slug):
    """The newest board in short, for a frame of any site. Only where the board is public: whoever asks, with or without a
    session, gets the same."""
    campaign = get_object_or_404(Campaign, slug=slug, board_is_public=True, deleted_at=None)
    shown = asked_board(request, campaign)
    if shown is None:
        raise Http404
    board = queries.board(shown, live=True, population=request.GET.get("population", ""))
    context = {
        "campaign": campaign,
        "tournament": shown,
        "board": board,
        "chart": charts.whiskers([board]),
        "view": _view(board),
        "judge_and_criterion": board_query(*queries.asked_by(shown), shown.criterion),
    }
    return render(request, "leaderboard/embed.html", context)


@sign_in_first
def tournament(request, pk):
    """The permalink: this tournament, whatever was played since."""
    found = tournament_for(request.user, pk)
    member = is_member(request.user, found.campaign)
    if not found.finished_at and not member:
        raise Http404
    context = {
        "campaign": found.campaign,
        "active": "leaderboard",
        "here": "permalink",
        "member": member,
        "tournament": found,
        "worker_alive": jobs.worker_alive(),
    }
    if found.finished_at:
        context |= shown_board(found, False, request.GET.get("population", "")) | {"confidence": confidence_of(found)}
        context |= shown_slice(context["board"], request.GET.get("slice", ""))
    return render(request, "leaderboard/tournament.html", context)


@sign_in_first
def tournament_file(request, pk, format):
    """The board as CSV, as a LaTeX table, or as an SVG to embed."""
    found = tournament_for(request.user, pk)
    if format not in FILES or found.finished_at is None:
        raise Http404
    write, content_type = FILES[format]
    response = HttpResponse(
        write(queries.board(found, population=request.GET.get("population", ""))), content_type=content_type
    )
    if format != "svg":
        response["Content-Disposition"] = f'attachment; filename="{found.campaign.slug}-{found.pk}.{format}"'
    return response


def shown_board(shown: Tournament, live: bool, population: str = "") -> dict:
    """A board with the other judge's of the same criterion beside it; on a permalink only what was there by then."""
    until = None if live else shown
    other = queries.latest(
        shown.campaign, PEOPLE if shown.plays_itself or not shown.version and shown.judge else JUDGE, shown.criterion, until
    )
    people = other if other and other.basis == PEOPLE else None
    board = queries.board(shown, people, live, population)
    beside = queries.alone(other, live) if other else None
    return {
        "tournament": shown,
        "board": board,
        "view": _view(board),
        "other": other,
        "beside": beside,
        "chart": charts.whiskers([b for b in (board, beside) if b]),
    }


def _view(board: Board) -> str:
    """What the board's own addresses end with, so that they lead to the population that is shown."""
    return "?population=annotators" if board.narrow is not None and board.population.kind == "annotators" else ""


def shown_slice(board: Board, asked: str) -> dict:
    """The slices that there are, and the one that is asked for; 404 for one that there is not."""
    sliced = asked_slice(board, asked)
    if asked and sliced is None:
        raise Http404
    there = {"slices": slices(board), "sliced": sliced}
    if sliced:
        there["view"] = f"?{urlencode({'slice': str(sliced)})}"
        of = on_slice(board, sliced)
        there |= {"sliced_board": of, "sliced_headline": headline(of, sliced)}
    return there


@login_required
def play(request, slug):
    """What sets boards going, and who sees them. For researchers."""
    context = member_page(request, slug, "play")
    campaign = context["campaign"]
    form = PlayForm(request.POST or None, campaign=campaign)
    if request.method == "POST":
        if not form.is_valid():
            messages.error(request, form.said())
            return redirect("play", slug)
        try:
            made = start.start_tournament(campaign, **form.request(), user=request.user)
        except Refused as refused:
            messages.error(request, str(refused))
            return redirect("play", slug)
        said = "The same tournament is already queued or running." if made.was_waiting else "The tournament is in the queue."
        messages.success(request, f"{said} This page shows its progress.")
        return redirect("leaderboard", slug)
    context |= {
        "open": queries.open_tournaments(campaign),
        "worker_alive": jobs.worker_alive(),
        "form": form,
        "board_form": BoardForm(initial={"is_public": campaign.board_is_public, "plays_new": campaign.plays_new_comparators}),
    }
    return render(request, "leaderboard/play.html", context)


@require_POST
@login_required
def ask(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    try:
        active_selection.start(campaign, request.user, goal="comparator" if "comparator" in request.POST else "systems")
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "A worker reorders the open pairs. The campaign's overview shows its progress.")
    return redirect("play", slug)


@require_POST
@login_required
def settings(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    form = BoardForm(request.POST)
    if form.is_valid():
        start.set_board(campaign, **form.cleaned_data, user=request.user)
        messages.success(request, "Saved.")
    return redirect("play", slug)

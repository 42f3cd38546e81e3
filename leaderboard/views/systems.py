"""Systems: who takes part, how to enter one, and what one system's results are. Changes are for researchers."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_researcher
from annotation.campaigns import costs
from annotation.data.uploads import read_at_once
from annotation.models import System
from annotation.views.paging import paged, searched
from core.errors import ImportRefused, Refused
from leaderboard import systems
from leaderboard.boards import overviews, queries, samples
from leaderboard.forms import OutputsForm, RegisterForm, SystemForm
from leaderboard.views.common import member_page, public_page, sign_in_first


@login_required
def system_list(request, slug):
    context = member_page(request, slug, "systems")
    campaign = context["campaign"]
    context["cost_unit"] = costs.unit_of(campaign)
    form = RegisterForm(request.POST or None, request.FILES or None, initial={"cost_unit": context["cost_unit"]})
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            said = {name: data[name] for name in data if name != "file"}
            source, file = read_at_once(data["file"])
            made = systems.register(campaign, source=source, file=file, user=request.user, **said)
        except Refused as refused:
            context["refused"] = _errors(refused)
        else:
            messages.success(request, f"{made.name} takes part. {_what_happens(campaign)}")
            return redirect("system", slug, made.pk)
    found, asked = searched(request, campaign.systems.all(), "name", "description")
    board = queries.opened(campaign)
    systems_there = paged(request, overviews.systems(campaign, board, found))
    context |= {"form": form, "systems": systems_there, "asked": asked, "board": board}
    return render(request, "leaderboard/systems.html", context, status=422 if request.method == "POST" else 200)


@sign_in_first
def system(request, slug, pk):
    context = public_page(request, slug, "systems")
    shown = get_object_or_404(System, pk=pk, campaign=context["campaign"])
    if not context["member"] and not shown.ratings.filter(tournament__finished_at__isnull=False).exists():
        raise Http404  # whoever reads public boards learns of no other system
    return _system_page(request, context, shown)


@require_POST
@login_required
def describe(request, slug, pk):
    found, context = _own(request, slug, pk)
    form = SystemForm(request.POST)
    if not form.is_valid():
        return _system_page(request, context, found, describe_form=form)
    said = form.cleaned_data
    try:
        with transaction.atomic():
            costs.give_cost(found, said.pop("cost"), said.pop("cost_unit"))
            systems.describe(found, **said, user=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "Saved.")
    return redirect("system", slug, pk)


@require_POST
@login_required
def replace(request, slug, pk):
    found, context = _own(request, slug, pk)
    form = OutputsForm(request.POST, request.FILES)
    if not form.is_valid():
        return _system_page(request, context, found, outputs_form=form)
    try:
        imported = systems.replace_outputs(found, *read_at_once(form.cleaned_data["file"]), request.user)
    except Refused as refused:
        return _system_page(request, context, found, refused=_errors(refused))
    done = f"{imported.new['outputs']:,} new outputs take part from now on; the earlier ones are kept."
    messages.success(request, f"{done} {_what_happens(found.campaign)}")
    return redirect("system", slug, pk)


@require_POST
@login_required
def retire(request, slug, pk):
    found, _ = _own(request, slug, pk)
    systems.set_retired(found, request.POST.get("retired") == "yes", request.user)
    messages.success(request, f"{found.name} {'is retired' if found.retired_at else 'takes part again'}.")
    return redirect("system", slug, pk)


def _own(request, slug, pk) -> tuple[System, dict]:
    campaign = campaign_for_researcher(request.user, slug)
    found = get_object_or_404(System, pk=pk, campaign=campaign)
    return found, member_page(request, slug, "systems")


def _system_page(request, context, shown: System, describe_form=None, outputs_form=None, refused=None):
    """With forms that were not valid, or with what was wrong in a file, as they were sent."""
    campaign = context["campaign"]
    board = queries.default_board(campaign)
    context |= {"system": shown, "boards": overviews.boards_of(shown), "tournament": board}
    if context["member"]:
        best, worst = samples.best_and_worst(board, shown) if board else ([], [])
        initial = {name: getattr(shown, name) for name in SystemForm.base_fields}
        initial["cost_unit"] = costs.unit_of(campaign)
        context |= {
            "best": best,
            "worst": worst,
            "versions": overviews.versions_of(shown),
            "refused": refused,
            "describe_form": describe_form or SystemForm(initial=initial),
            "outputs_form": outputs_form or OutputsForm(),
        }
    return render(request, "leaderboard/system.html", context, status=422 if request.method == "POST" else 200)


def _errors(refused: Refused) -> list[str]:
    return [str(error) for error in refused.errors[:20]] if isinstance(refused, ImportRefused) else [str(refused)]


def _what_happens(campaign) -> str:
    waiting = queries.open_tournaments(campaign)
    return "A worker now rates it against the others." if waiting else "The next tournament rates it."

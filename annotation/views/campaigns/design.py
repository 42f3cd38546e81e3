"""A campaign is designed, changed, opened and closed, made again, put away."""

import copy

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_researcher
from annotation.annotating.item_page import examples
from annotation.campaigns import lifecycle, protocol
from annotation.campaigns.overview import rich_texts
from annotation.campaigns.protocol import answers_in, fixed_settings
from annotation.campaigns.templates import TEMPLATES, settings_of
from annotation.forms import CampaignForm, DuplicateForm, NewCampaignForm, as_typed, criteria_formset, filled_rows, rows_of
from core.errors import Refused


def _may_create(user) -> bool:
    return user.may_create_campaigns or user.is_admin


@login_required
def new(request):
    """GET ?template=NAME: the form filled in for a kind of campaign. POST with `preview` stores nothing: it shows what
    annotators would be asked, beside what was typed."""
    if not _may_create(request.user):
        raise PermissionDenied
    chosen = TEMPLATES.get(request.GET.get("template", ""))
    asked = settings_of(chosen) if chosen else {"criteria": []}
    form = NewCampaignForm(request.POST or None, initial={name: asked[name] for name in asked if name != "criteria"})
    criteria = criteria_formset(request.POST or None, rows_of(asked["criteria"]))
    shown = examples(form.sketch(), filled_rows(criteria) if form.is_bound else asked["criteria"])
    if "add_criterion" in request.POST:
        form, criteria = NewCampaignForm(initial=as_typed(form)), _with_a_row_more(criteria)
    elif "preview" in request.POST:
        form, criteria = NewCampaignForm(initial=as_typed(form)), criteria_formset(rows=[as_typed(row) for row in criteria])
    elif request.method == "POST" and form.is_valid() & criteria.is_valid():
        try:
            campaign = lifecycle.create_campaign(**form.cleaned_data, criteria=filled_rows(criteria), user=request.user)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, "The campaign is created. Next, import the outputs to judge.")
            return redirect("import_data", campaign.slug)
    context = {"form": form, "criteria": criteria, "templates": TEMPLATES, "chosen": chosen, "examples": shown}
    return render(request, "annotation/design.html", context, status=422 if form.is_bound else 200)


def _with_a_row_more(criteria):
    """Without JavaScript the button for it sends the form. Nothing is checked then, and nothing typed is lost."""
    return criteria_formset(rows=[as_typed(row) for row in criteria] + [{}])


@login_required
def design(request, slug):
    """Change a campaign, as far as answers leave it free."""
    campaign = campaign_for_researcher(request.user, slug)
    answers = answers_in(campaign)
    consent = campaign.consent_texts.last()
    form = CampaignForm(
        request.POST or None,
        instance=copy.copy(campaign),
        fixed=fixed_settings(campaign, answers),
        initial={"consent": consent.text if consent else ""},
    )
    criteria = criteria_formset(request.POST or None, rows_of(campaign.criteria.all()))
    if "add_criterion" in request.POST:
        form = CampaignForm(instance=form.instance, fixed=form.fixed.split(), initial=as_typed(form))
        criteria = _with_a_row_more(criteria)
    elif request.method == "POST" and form.is_valid() & criteria.is_valid():
        try:
            changed = protocol.change_campaign(campaign, request.user, filled_rows(criteria), **form.cleaned_data)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, "Saved." if changed else "There were no changes to save.")
            return redirect("design", slug)
    context = {
        "campaign": campaign,
        "form": form,
        "criteria": criteria,
        "answers": answers,
        "consent": consent,
        "rich_texts": rich_texts(campaign),
        "duplicate_form": DuplicateForm(auto_id="copy_%s", initial={"title": campaign.title}),
        "may_create": _may_create(request.user),
    }
    return render(request, "annotation/design.html", context, status=422 if form.is_bound else 200)


@require_POST
@login_required
def show_as_markdown(request, slug):
    """What the page of an imported file suggests, taken up."""
    campaign = campaign_for_researcher(request.user, slug)
    try:
        protocol.change_campaign(campaign, request.user, text_format=campaign.TextFormat.MARKDOWN)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("design", slug)
    messages.success(request, "Texts are now shown as Markdown. This is what annotators see.")
    return redirect("preview", slug)


@require_POST
@login_required
def duplicate(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    if not _may_create(request.user):
        raise PermissionDenied
    form = DuplicateForm(request.POST)
    try:
        if not form.is_valid():
            raise Refused("A copy needs a title and an unused short name of letters, digits and hyphens.")
        copy = lifecycle.duplicate_campaign(campaign, **form.cleaned_data, user=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("design", slug)
    messages.success(request, "This is the copy, with the same questions and no answers.")
    return redirect("design", copy.slug)


@require_POST
@login_required
def delete(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    if request.POST.get("title", "").strip() != campaign.title:
        messages.error(request, "To delete the campaign, type its title. Nothing was changed.")
        return redirect("design", slug)
    lifecycle.delete_campaign(campaign, request.user)
    messages.success(request, f"“{campaign.title}” is deleted. No data are lost, and an admin can restore it.")
    return redirect("home")


@require_POST
@login_required
def status(request, slug):
    changed = campaign_for_researcher(request.user, slug)
    try:
        lifecycle.set_status(changed, request.POST.get("status", ""), request.user)
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("campaign", slug)

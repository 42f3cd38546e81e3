"""Who judges, who is invited, who may see the results."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_researcher
from annotation.annotating.crowd import return_worker
from annotation.assessment.calculations import follow
from annotation.campaigns import lifecycle
from annotation.campaigns.overview import ByAnswers
from annotation.forms import AccountForm, InvitationForm, MailedInvitationForm, ResearcherForm
from annotation.people import notices
from annotation.people.accounts import add_account
from annotation.people.invitations import invite, release_worker, revoke_invitation
from annotation.views.paging import paged, searched
from core import mail
from core.errors import Refused
from core.throttling import MAILED_BY_ACCOUNT

LINKS_SHOWN = 20
SEARCHED = ("name", "user__username", "user__first_name", "invitation__label", "source__PROLIFIC_PID", "source__workerId")


@login_required
def people(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    chosen = request.POST.get("ask")
    forms = {
        name: form(request.POST if chosen == name else None, auto_id=f"{name}_%s")
        for name, form in (
            ("invite", MailedInvitationForm if mail.is_on() else InvitationForm),
            ("researcher", ResearcherForm),
            ("account", AccountForm),
        )
    }
    form = forms.get(chosen)
    if form is not None and form.is_valid():
        try:
            messages.success(request, DO[chosen](campaign, form.cleaned_data, request))
            return redirect("people", slug)
        except Refused as refused:
            form.add_error(None, str(refused))
    invitations = paged(request, campaign.invitations.order_by("-created_at"), LINKS_SHOWN, "links")
    for invitation in invitations:
        invitation.address = _address(request, invitation)
    annotators, asked = searched(request, campaign.annotators.select_related("user", "invitation", "consent"), *SEARCHED)
    counts = follow(campaign, "people", "Answers by person", request.user)
    context = {
        "campaign": campaign,
        "annotators": paged(request, ByAnswers(annotators, counts.part("counts"))),
        "counts": counts,
        "asked": asked,
        "invitations": invitations,
        "researchers": campaign.memberships.select_related("user").order_by("user__username"),
        **{f"{name}_form": form for name, form in forms.items()},
    }
    return render(request, "annotation/people.html", context, status=422 if form is not None else 200)


def _invite(campaign, data, request) -> str:
    to = data.pop("email", "")
    if to and MAILED_BY_ACCOUNT.is_reached(str(request.user.pk)):
        raise Refused("You sent too many invitations by e-mail. Wait an hour, or send the link yourself.")
    invitation = invite(campaign, request.user, **data)
    if not to:
        return "The link is ready. Send it to your annotators."
    MAILED_BY_ACCOUNT.count_one(str(request.user.pk))
    if notices.invitation(invitation, to, _address(request, invitation)):
        return f"The link was sent to {to}."
    return f"The link is ready, but the e-mail to {to} could not be sent. Send the link yourself."


def _address(request, invitation) -> str:
    """Empty where the link can't be shown any more."""
    return request.build_absolute_uri(reverse("join", args=[invitation.token])) if invitation.token else ""


def _add_researcher(campaign, data, request) -> str:
    added = lifecycle.add_researcher(campaign, data["username"], request.user)
    return f"{added.user} is now a researcher of this campaign."


def _add_account(campaign, data, request) -> str:
    annotator, password = add_account(campaign, data["email"], data["name"], request.user)
    if password:
        return f"{annotator.user} can sign in with the password {password} – it is shown only now; they can change it."
    return f"{annotator.user} had an account already, and finds this campaign on the first page."


DO = {"invite": _invite, "researcher": _add_researcher, "account": _add_account}


@require_POST
@login_required
def revoke(request, slug, pk):
    campaign = campaign_for_researcher(request.user, slug)
    revoke_invitation(get_object_or_404(campaign.invitations, pk=pk), request.user)
    messages.success(request, "The link is revoked. People who joined with it can continue.")
    return redirect("people", slug)


@require_POST
@login_required
def release(request, slug, pk):
    annotator = get_object_or_404(campaign_for_researcher(request.user, slug).annotators, pk=pk)
    release_worker(annotator, request.user)
    messages.success(
        request, f"{annotator.name} can continue in another browser: the next one that opens the link as this worker."
    )
    return redirect("people", slug)


@require_POST
@login_required
def returned(request, slug, pk):
    annotator = get_object_or_404(campaign_for_researcher(request.user, slug).annotators, pk=pk)
    return_worker(annotator, request.user)
    messages.success(request, f"{annotator.name} takes part no more. Their answers do not count, and others get their items.")
    return redirect("people", slug)


@require_POST
@login_required
def remove_researcher(request, slug, pk):
    campaign = campaign_for_researcher(request.user, slug)
    membership = get_object_or_404(campaign.memberships.select_related("campaign", "user"), pk=pk)
    try:
        lifecycle.remove_researcher(membership, request.user)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("people", slug)
    messages.success(request, f"{membership.user} is no longer a researcher of {campaign.title}.")
    return redirect("people", slug) if request.user.is_admin or membership.user != request.user else redirect("home")

"""Who judges, who is invited, who may see the results; and the page behind an invitation link."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation import services
from annotation.access import campaign_for_researcher
from annotation.errors import Refused
from annotation.forms import GuestForm, InvitationForm, ResearcherForm
from annotation.models import Invitation
from annotation.selectors import annotators


@login_required
def people(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    asked = request.POST.get("ask")
    invitation_form = InvitationForm(request.POST if asked == "invite" else None)
    researcher_form = ResearcherForm(request.POST if asked == "researcher" else None)
    form = {"invite": invitation_form, "researcher": researcher_form}.get(asked)
    if form is not None and form.is_valid():
        try:
            if asked == "invite":
                services.invite(campaign, request.user, cap=form.cleaned_data["cap"])
                messages.success(request, "The link is ready: send it to the people who are to judge.")
            else:
                added = services.add_researcher(campaign, form.cleaned_data["username"], request.user)
                messages.success(request, f"{added.user} is now a researcher of this campaign.")
            return redirect("people", slug)
        except Refused as refused:
            form.add_error(None, str(refused))
    context = {
        "campaign": campaign,
        "annotators": annotators(campaign).select_related("user"),
        "invitations": [
            (invitation, request.build_absolute_uri(reverse("join", args=[invitation.token])))
            for invitation in campaign.invitations.order_by("-created_at")
        ],
        "researchers": campaign.memberships.select_related("user").order_by("user__username"),
        "invitation_form": invitation_form,
        "researcher_form": researcher_form,
    }
    return render(request, "annotation/people.html", context, status=422 if form is not None else 200)


def join(request, token):
    """Whoever holds the link may annotate: with their account, or as a guest under a name."""
    invitation = get_object_or_404(Invitation.objects.select_related("campaign"), token=token)
    campaign = invitation.campaign
    form = GuestForm(request.POST or None) if not request.user.is_authenticated else None
    context = {"campaign": campaign, "form": form}
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            if request.user.is_authenticated:
                services.join(token, request.user)
            else:
                user, _ = services.join_as_guest(token, form.cleaned_data["name"])
                login(request, user, backend="django.contrib.auth.backends.ModelBackend")
            return redirect("annotate", campaign.slug)
        except Refused as refused:
            context["refused"] = refused
    return render(request, "annotation/join.html", context, status=422 if request.method == "POST" else 200)

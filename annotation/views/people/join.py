"""The page behind an invitation link: with an account, as a guest, or as a crowd platform's worker."""

import secrets

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache

from annotation.forms import GuestForm, OwnAccountForm
from annotation.models import Invitation
from annotation.people import invitations
from annotation.people.invitations import MTURK_PREVIEW, crowd_source
from core.errors import Refused
from core.sealed import digest
from core.throttling import JOINED_FROM_ADDRESS, address

BROWSER, KEPT = "browser", 365 * 24 * 3600  # the cookie, and for how many seconds
BACKEND = "django.contrib.auth.backends.ModelBackend"


@never_cache
@login_not_required
def join(request, token):
    """Nobody is admitted by opening the link, only by its button: mail programs and MTurk open links to look."""
    open_invitations = Invitation.objects.select_related("campaign").filter(campaign__deleted_at=None)
    invitation = get_object_or_404(open_invitations, digest=digest(token))
    source = crowd_source(request.GET)
    is_worker, browser = invitations.is_worker(source), _browser(request)
    with_account = request.POST.get("how") == "account"
    context = {
        "campaign": invitation.campaign,
        "is_worker": is_worker,
        "invitation": invitation,
        "is_preview": source.get("assignmentId") == MTURK_PREVIEW,
        "guest_form": GuestForm(request.POST if request.method == "POST" and not with_account else None),
        "account_form": OwnAccountForm(request.POST if with_account else None, auto_id="account_%s"),
    }
    if request.method == "POST" and not context["is_preview"]:
        try:
            if _admit(request, token, source, context, browser):
                response = redirect("annotate", invitation.campaign.slug)
                if is_worker:
                    response.set_signed_cookie(
                        BROWSER, browser, max_age=KEPT, httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
                    )
                return response
        except Refused as refused:
            context["refused"] = refused
    return render(request, "annotation/join.html", context, status=422 if request.method == "POST" else 200)


def _browser(request) -> str:
    """A name of this browser that nobody else can write: its signed cookie's, or a new one."""
    return request.get_signed_cookie(BROWSER, default="") or secrets.token_hex(16)


def _admit(request, token, source, context, browser) -> bool:
    """Join as whoever this is. False where the form has to be filled in better."""
    is_worker = context["is_worker"]
    if not request.user.is_authenticated and JOINED_FROM_ADDRESS.is_reached(address(request)):
        raise Refused(gettext("Many people have just joined from your network. Please try again in 15 minutes."))
    if request.user.is_authenticated and (request.user.has_usable_password() or not is_worker):
        invitations.join(token, request.user, source)
        return True
    if is_worker:  # whoever used this browser before: the platform says who it is now
        user, _ = invitations.join_as_guest(token, "", source, browser, request.user)
    elif context["account_form"].is_bound:
        if not context["account_form"].is_valid():
            return False
        user = invitations.join_with_account(token, **context["account_form"].cleaned_data, source=source)
    else:
        if not context["guest_form"].is_valid():
            return False
        user, _ = invitations.join_as_guest(token, context["guest_form"].cleaned_data["name"], source)
    login(request, user, backend=BACKEND)
    JOINED_FROM_ADDRESS.count_one(address(request))
    return True

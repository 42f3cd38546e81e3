"""Agreeing, withdrawing, and going on elsewhere: what an annotator decides about taking part."""

from datetime import timedelta

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required, login_required
from django.core import signing
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotation.annotating.consent import agree, consent_due, withdraw_annotator
from annotation.annotating.item_page import number
from annotation.models import Annotator
from annotation.views.people.sign_in import for_annotators
from core.errors import Refused

RESUME = "annotation.resume"  # salt of a guest's own link
RESUME_DAYS = 30


@never_cache
@for_annotators
def consent(request, annotator):
    slug, refused = annotator.campaign.slug, None
    if request.method == "POST":
        try:
            agree(annotator, number(request.POST.get("version")))
            return redirect("annotate", slug)
        except Refused as error:
            refused = error
    due = consent_due(annotator)
    shown = due or annotator.consent
    if shown is None:
        return redirect("annotate", slug)
    context = {
        "campaign": annotator.campaign,
        "annotator": annotator,
        "consent": shown,
        "is_due": due is not None,
        "refused": refused,
    }
    return render(request, "annotation/consent.html", context, status=422 if refused else 200)


@never_cache
@for_annotators
def withdraw(request, annotator):
    """Explains, and does it once confirmed. There is no way back by oneself."""
    if request.method == "POST":
        withdraw_annotator(annotator, request.user)
        return redirect("annotate", annotator.campaign.slug)
    if annotator.withdrawn_at:
        return redirect("annotate", annotator.campaign.slug)
    return render(request, "annotation/withdraw.html", {"campaign": annotator.campaign, "annotator": annotator})


@never_cache
@for_annotators
def elsewhere(request, annotator):
    """How to go on with another device: by signing in, or for a guest by a link of their own."""
    link = None
    if not request.user.has_usable_password():
        link = _resume_link(request, annotator)
    context = {"campaign": annotator.campaign, "annotator": annotator, "link": link, "days": RESUME_DAYS}
    return render(request, "annotation/elsewhere.html", context)


def _resume_link(request, annotator) -> str:
    return request.build_absolute_uri(reverse("resume", args=[signing.dumps(annotator.pk, salt=RESUME)]))


@never_cache
@login_required
def leave(request):
    """Asks a guest before signing out, since they have no password, and shows the links that lead back."""
    if request.user.has_usable_password():
        return redirect("home")
    own = Annotator.objects.filter(user=request.user, campaign__deleted_at=None).select_related("campaign").order_by("pk")
    links = [(annotator, _resume_link(request, annotator)) for annotator in own]
    return render(request, "annotation/leave.html", {"links": links, "days": RESUME_DAYS})


@never_cache
@login_not_required
def resume(request, token):
    """Behind a guest's own link. Only a guest can come in this way: an account has its password."""
    try:
        pk = signing.loads(token, salt=RESUME, max_age=timedelta(days=RESUME_DAYS))
    except signing.SignatureExpired:
        return render(request, "annotation/resume.html", {"days": RESUME_DAYS}, status=410)
    except signing.BadSignature:
        raise Http404 from None
    annotator = get_object_or_404(
        Annotator.objects.select_related("campaign", "user"), pk=pk, campaign__deleted_at=None, user__is_active=True
    )
    if annotator.user.has_usable_password():
        raise Http404
    if request.method == "POST":
        login(request, annotator.user, backend="django.contrib.auth.backends.ModelBackend")
        return redirect("annotate", annotator.campaign.slug)
    return render(request, "annotation/resume.html", {"campaign": annotator.campaign, "annotator": annotator})

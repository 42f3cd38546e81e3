"""How the installation is: for probes, as JSON; for Prometheus, as figures; for admins, as a page."""

import secrets

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation import exposition, health
from annotation.access import for_admins
from annotation.models import Job
from core.throttling import UNKNOWN_TOKENS_FROM_ADDRESS, address


@never_cache
@login_not_required
def healthz(request):
    """Can pages be answered?"""
    return _answer(health.live())


@never_cache
@login_not_required
def readyz(request):
    """Can everything be done that people ask for?"""
    return _answer(health.ready())


def _answer(checks: dict[str, str]) -> JsonResponse:
    well = all(answer == health.WELL for answer in checks.values())
    return JsonResponse({"ok": well, "checks": checks}, status=200 if well else 503)


@never_cache
@login_not_required
@require_safe
def metrics(request):
    """For Prometheus with METRICS_TOKEN, and for admins who are signed in."""
    if not request.user.is_authenticated and settings.METRICS_TOKEN:
        if UNKNOWN_TOKENS_FROM_ADDRESS.is_reached(address(request)):
            return HttpResponse(status=429)
        wanted = f"Bearer {settings.METRICS_TOKEN}".encode()
        if not secrets.compare_digest(request.headers.get("Authorization", "").encode(), wanted):
            UNKNOWN_TOKENS_FROM_ADDRESS.count_one(address(request))
            return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    elif not (request.user.is_authenticated and request.user.is_admin):
        raise Http404
    return HttpResponse(exposition.text(), content_type=exposition.CONTENT_TYPE)


@for_admins
def status(request):
    context = {
        "checks": health.ready(),
        "workers": health.workers(),
        "queues": health.queues(),
        "sizes": health.sizes(),
        "failed": Job.objects.filter(status=Job.Status.FAILED).count(),
    }
    return render(request, "annotation/status.html", context)

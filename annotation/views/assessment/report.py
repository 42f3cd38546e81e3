"""The report, to read and to take along."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render

from annotation.access import campaign_for_researcher
from annotation.assessment import report as reporting
from annotation.assessment.calculations import look_up
from annotation.snapshots import latest_snapshot


@login_required
def report(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = latest_snapshot(campaign)
    sections = _sections(campaign, snapshot, request.user) if snapshot else []
    context = {"campaign": campaign, "snapshot": snapshot, "sections": sections, "formats": reporting.FORMATS.items()}
    return render(request, "annotation/quality_report.html", context)


@login_required
def download(request, slug, format):
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = latest_snapshot(campaign)
    if snapshot is None or format not in reporting.WRITERS:
        raise Http404
    text = reporting.WRITERS[format](_sections(campaign, snapshot, request.user))
    response = HttpResponse(text, content_type=f"{reporting.CONTENT_TYPES[format]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{campaign.slug}-{snapshot.name}.{format}"'
    return response


def _sections(campaign, snapshot, user):
    """Without the annotators where a worker still works them out."""
    watched, _ = look_up(campaign, "annotators", "Annotators beside each other", user)
    return reporting.sections(campaign, snapshot, watched)

"""The report, to read and to take along."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render

from annotation.access import campaign_for_researcher
from annotation.assessment.report import CONTENT_TYPES, FORMATS, WRITERS, report_of
from annotation.snapshots import latest_snapshot


@login_required
def report(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = latest_snapshot(campaign)
    sections = report_of(campaign, snapshot, request.user) if snapshot else []
    context = {"campaign": campaign, "snapshot": snapshot, "sections": sections, "formats": FORMATS.items()}
    return render(request, "annotation/quality_report.html", context)


@login_required
def download(request, slug, format):
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = latest_snapshot(campaign)
    if snapshot is None or format not in WRITERS:
        raise Http404
    text = WRITERS[format](report_of(campaign, snapshot, request.user))
    response = HttpResponse(text, content_type=f"{CONTENT_TYPES[format]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{campaign.slug}-{snapshot.name}.{format}"'
    return response

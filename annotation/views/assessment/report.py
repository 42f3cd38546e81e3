"""The report, to read and to take along."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Max
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from annotation.access import campaign_for_researcher
from annotation.assessment.datasheet.own_words import write
from annotation.assessment.datasheet.sheet import counts, datasheet, left_over
from annotation.assessment.report import CONTENT_TYPES, FORMATS, WRITERS, report_of
from annotation.forms import DatasheetForm
from annotation.models import Campaign
from annotation.snapshots import latest_snapshot
from core.errors import Refused


@login_required
def report(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = latest_snapshot(campaign)
    sections = report_of(campaign, snapshot, request.user) if snapshot else []
    context = {"campaign": campaign, "snapshot": snapshot, "sections": sections, "formats": FORMATS.items()}
    if snapshot:
        answered, asked = counts(datasheet(campaign, snapshot))
        context |= {"answered": answered, "asked": asked, "to_write": asked - answered}
    return render(request, "annotation/quality_report.html", context)


@login_required
def sheet(request, slug):
    """What the campaign can't answer of the datasheet, for its researchers to write."""
    campaign = campaign_for_researcher(request.user, slug)
    answers = datasheet(campaign, latest_snapshot(campaign))
    form = DatasheetForm(request.POST or None, sheet=answers, left_over=left_over(campaign), seen=_stored(campaign))
    if form.is_bound and form.is_valid():
        try:
            changed = write(campaign, request.user, form.written, form.discarded)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, "Saved." if changed else "There were no changes to save.")
            return redirect("datasheet", slug)
    answered, asked = counts(answers)
    context = {"campaign": campaign, "form": form, "answered": answered, "asked": asked, "now": _stored(campaign)}
    return render(request, "annotation/datasheet.html", context, status=422 if form.is_bound else 200)


def _stored(campaign: Campaign) -> str:
    """Which answers there are now."""
    found = campaign.datasheet_answers.aggregate(n=Count("pk"), last=Max("written_at"))
    return f"{found['n']}-{found['last'].isoformat() if found['last'] else ''}"


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

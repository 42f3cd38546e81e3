"""Files in, files out."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from annotation import exporting, importing, snapshots
from annotation.access import campaign_for_researcher
from annotation.errors import ImportRefused
from annotation.forms import ImportForm
from annotation.selectors import overview

CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


@login_required
def import_data(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    form = ImportForm(request.POST or None, request.FILES or None)
    context = {"campaign": campaign, "form": form}
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                result = _import(campaign, form.cleaned_data, request.user)
                context |= {"result": result, "new": [(n, kind) for kind, n in result.new.items() if n]}
                status = 200
            except ImportRefused as refused:
                context["refused"] = refused
            campaign.refresh_from_db()
    context["numbers"] = overview(campaign)
    return render(request, "annotation/import.html", context, status=status)


def _import(campaign, data, user):
    common = {"dry_run": data["dry_run"], "user": user}
    if data["kind"] == "outputs":
        return importing.import_outputs(
            campaign, data["file"], data["file"].name, human_systems=data["human_systems"], **common
        )
    importer = importing.import_scores if data["kind"] == "scores" else importing.import_judgments
    return importer(campaign, data["file"], data["file"].name, **common)


@login_required
def export(request, slug, what, format):
    campaign = campaign_for_researcher(request.user, slug)
    if what not in exporting.KINDS or format not in CONTENT_TYPES:
        raise Http404
    rows = exporting.rows(campaign, what)
    lines = exporting.as_csv(rows, what) if format == "csv" else exporting.as_jsonl(rows)
    response = StreamingHttpResponse(lines, content_type=CONTENT_TYPES[format])
    response["Content-Disposition"] = f'attachment; filename="{campaign.slug}-{what}.{format}"'
    return response


@login_required
def snapshot_file(request, slug, digest):
    """The snapshot's canonical lines: their SHA-256 is its hash."""
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = campaign.snapshots.filter(digest__startswith=digest).first()
    if snapshot is None:
        raise Http404
    response = HttpResponse(snapshots.lines(snapshot), content_type="application/x-ndjson")
    response["Content-Disposition"] = f'attachment; filename="{campaign.slug}-{snapshot.name}.jsonl"'
    return response

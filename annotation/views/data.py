"""Files out."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, StreamingHttpResponse

from annotation import exporting, snapshots
from annotation.access import campaign_for_researcher

CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


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

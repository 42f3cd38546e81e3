"""Files out."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, StreamingHttpResponse

from annotation import snapshots
from annotation.access import campaign_for_researcher
from annotation.assessment import snapshot_contents
from annotation.data.export import CONTENT_TYPES, PREFERENCES, answer_files, as_csv, as_jsonl, exported_rows, files
from annotation.people.audit import exported
from core.errors import Refused, quoted


@login_required
def export(request, slug, what, format):
    """Outputs, answers and judges' scores, as they are and count now."""
    campaign = campaign_for_researcher(request.user, slug)
    if what not in files() or format not in CONTENT_TYPES:
        raise Http404
    exported(f"{what} ({format})", campaign, request.user)
    return _file(exported_rows(campaign, what), what, format, f"{campaign.slug}-{what}")


@login_required
def snapshot_export(request, slug, digest, what, format):
    """A snapshot's answers with what became of them, or preference pairs: the same bytes whenever it is asked for."""
    campaign, snapshot = _snapshot(request, slug, digest)
    if what not in (*answer_files(), PREFERENCES) or format not in CONTENT_TYPES:
        raise Http404
    try:
        if what == PREFERENCES:
            rows = snapshot_contents.preferences(snapshot, _margin(request.GET.get("margin")))
        else:
            rows = snapshot_contents.rows(snapshot, what)
    except Refused as refused:
        return HttpResponse(str(refused), status=409, content_type="text/plain; charset=utf-8")
    exported(f"{what} of {snapshot.name} ({format})", campaign, request.user)
    return _file(rows, what, format, f"{campaign.slug}-{snapshot.name}-{what}")


@login_required
def snapshot_file(request, slug, digest):
    """The snapshot's canonical lines: their SHA-256 is its hash."""
    campaign, snapshot = _snapshot(request, slug, digest)
    exported(f"snapshot {snapshot.name}", campaign, request.user)
    response = HttpResponse(snapshots.lines(snapshot), content_type="application/x-ndjson")
    return _named(response, f"{campaign.slug}-{snapshot.name}.jsonl")


def _snapshot(request, slug, digest):
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = campaign.snapshots.filter(digest__startswith=digest).first()
    if snapshot is None:
        raise Http404
    return campaign, snapshot


def _margin(text: str | None) -> float | None:
    """Points between mean scores that make a preference; None: no preferences from scores."""
    try:
        margin = float(text) if text else None
    except ValueError:
        raise Refused(f"The margin is a number of points on the scale, not {quoted(text or '')}.") from None
    if margin is not None and not 0 < margin < 1000:
        raise Refused("The margin is a number of points on the scale, above zero.")
    return margin


def _file(rows, what: str, format: str, name: str):
    lines = as_csv(rows, what) if format == "csv" else as_jsonl(rows)
    return _named(StreamingHttpResponse(lines, content_type=CONTENT_TYPES[format]), f"{name}.{format}")


def _named(response, name: str):
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response

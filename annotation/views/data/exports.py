"""Files out."""

from pathlib import Path

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from annotation import snapshots
from annotation.access import campaign_for_researcher
from annotation.assessment import preference_files, snapshot_contents
from annotation.data.export import CONTENT_TYPES, PREFERENCES, answer_files, as_csv, as_jsonl, exported_rows, files
from annotation.jobs import worker_alive
from annotation.models import Job
from annotation.people.audit import exported
from core.errors import Refused, quoted


@login_required
def export(request, slug, what, format):
    """Outputs, answers and judges' scores, as they are and count now."""
    campaign = campaign_for_researcher(request.user, slug)
    if what not in files() or format not in CONTENT_TYPES:
        raise Http404
    exported(f"{what} ({format})", campaign, request.user)
    lines = _lines(exported_rows(campaign, what), what, format)
    return _named(StreamingHttpResponse(lines, content_type=CONTENT_TYPES[format]), f"{campaign.slug}-{what}.{format}")


@login_required
def snapshot_export(request, slug, digest, what, format):
    """A snapshot's answers with what became of them, or preference pairs: the same bytes whenever it is asked for. Of many
    answers, pairs are a worker's: a page with its job, and then with the way to the file, which is ?file=1."""
    campaign, snapshot = _snapshot(request, slug, digest)
    if what not in (*answer_files(), PREFERENCES) or format not in CONTENT_TYPES:
        raise Http404
    try:
        if what == PREFERENCES:
            made = preference_files.preference_file(snapshot, _margin(request.GET.get("margin")), format, request.user)
        else:
            made = _lines(snapshot_contents.rows(snapshot, what), what, format)
    except Refused as refused:
        return HttpResponse(str(refused), status=409, content_type="text/plain; charset=utf-8")
    if isinstance(made, Job) or (isinstance(made, Path) and "file" not in request.GET):
        return _waiting(request, snapshot, made)
    exported(f"{what} of {snapshot.name} ({format})", campaign, request.user)
    name = f"{campaign.slug}-{snapshot.name}-{what}.{format}"
    if isinstance(made, Path):
        return _named(FileResponse(made.open("rb"), content_type=CONTENT_TYPES[format]), name)
    return _named(StreamingHttpResponse(made, content_type=CONTENT_TYPES[format]), name)


def _waiting(request, snapshot, made: Job | Path):
    job = made if isinstance(made, Job) else None
    context = {
        "campaign": snapshot.campaign,
        "snapshot": snapshot,
        "job": job,
        "worker_alive": job is None or job.is_finished or worker_alive(preference_files.TASK),
        "size": None if isinstance(made, Job) else made.stat().st_size,
        "margin": request.GET.get("margin"),
    }
    return render(request, "annotation/preferences.html", context)


@login_required
def snapshot_file(request, slug, digest):
    """The snapshot's canonical lines: their SHA-256 is its hash."""
    campaign, snapshot = _snapshot(request, slug, digest)
    exported(f"snapshot {snapshot.name}", campaign, request.user)
    length, parts = snapshots.parts(snapshot)
    response = StreamingHttpResponse(parts, content_type="application/x-ndjson", headers={"Content-Length": str(length)})
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


def _lines(rows, what: str, format: str):
    return as_csv(rows, what) if format == "csv" else as_jsonl(rows)


def _named(response, name: str):
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response

"""All ways out of a campaign on one page, and the way in for a whole one."""

import io
from pathlib import Path

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_researcher
from annotation.assessment.numbers import numbers
from annotation.data import export
from annotation.data.fields import in_words
from annotation.jobs import worker_alive
from annotation.models import Job
from annotation.people.audit import exported
from core.errors import Refused
from leaderboard.archive import exchange
from leaderboard.archive.tables import LEFT
from leaderboard.boards import queries
from leaderboard.forms import ArchiveForm
from leaderboard.publication import download

BOARDS_SHOWN = 20


@login_required
def ways_out(request, slug):
    """What a campaign can be taken away as."""
    campaign = campaign_for_researcher(request.user, slug)
    job = exchange.latest(campaign)
    followed = numbers(campaign, request.user)
    judged = {"judge_scores": campaign.imported_scores.count(), "judge_pairs": campaign.imported_pairs.count()}
    rows = {what: {**(followed.result or {}), **judged}.get(what, 0) for what in export.files()}
    context = {
        "campaign": campaign,
        "counted_as_of": followed.as_of,
        "files": [{"what": what, "name": in_words(what), "rows": n} for what, n in rows.items()],
        "job": job,
        "size": exchange.file_of(job).stat().st_size if job and job.status == Job.Status.DONE else None,
        "worker_alive": worker_alive(exchange.EXPORT) if job and not job.is_finished else True,
        "snapshots": campaign.snapshots.defer("content")[:BOARDS_SHOWN],
        "boards": queries.finished(campaign)[:BOARDS_SHOWN],
        "left": LEFT,
    }
    return render(request, "leaderboard/ways_out.html", context)


@require_POST
@login_required
def make_archive(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    try:
        exchange.ask(campaign, request.user)
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("ways_out", slug)


@login_required
def archive(request, slug):
    """The newest archive, once it is written."""
    campaign = campaign_for_researcher(request.user, slug)
    job = exchange.latest(campaign)
    if job is None or job.status != Job.Status.DONE:
        raise Http404
    name = f"{campaign.slug}-{job.created_at:%Y-%m-%d}.zip"
    return FileResponse(exchange.file_of(job).open("rb"), as_attachment=True, filename=name, content_type="application/zip")


@login_required
def published(request, slug, digest):
    """A snapshot's files in the shapes that the field reads, as one zip. Of a long one a page, with the job that writes it, and
    then with the way to the file, which is ?file=1."""
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = campaign.snapshots.filter(digest__startswith=digest).first()
    if snapshot is None:
        raise Http404
    try:
        made = download.zip_of(snapshot, request.user)
    except Refused as refused:
        return HttpResponse(str(refused), status=409, content_type="text/plain; charset=utf-8")
    job = made if isinstance(made, Job) else None
    if job or (isinstance(made, Path) and "file" not in request.GET):
        context = {"campaign": campaign, "snapshot": snapshot, "job": job, "size": None if job else made.stat().st_size}
        context["worker_alive"] = job is None or job.is_finished or worker_alive(download.TASK)
        return render(request, "leaderboard/published.html", context)
    exported(f"the files of {snapshot.name}", campaign, request.user)
    content = made.open("rb") if isinstance(made, Path) else io.BytesIO(made)
    name = f"{campaign.slug}-{snapshot.name}.zip"
    return FileResponse(content, as_attachment=True, filename=name, content_type="application/zip")


@login_required
def bring_back(request):
    """A new campaign from an archive."""
    if not (request.user.may_create_campaigns or request.user.is_admin):
        raise PermissionDenied
    form = ArchiveForm(request.POST or None, request.FILES or None)
    checked = None
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            campaign, checked, job = exchange.receive(asked["file"], asked["slug"], request.user, "check" in request.POST)
        except Refused as refused:
            form.add_error("file", str(refused))
        else:
            if campaign:
                done = "A worker fills the campaign." if job else "The campaign is here, with equal hashes, boards and times."
                messages.success(request, done)
                return redirect(campaign)
    counts = [(name.replace("_", " "), rows) for name, rows in checked.rows.items()] if checked else []
    context = {"form": form, "checked": checked, "counts": counts, "left": LEFT}
    return render(request, "leaderboard/bring_back.html", context, status=422 if form.errors else 200)

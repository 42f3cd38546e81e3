"""A file comes in: sent, its columns named, checked, stored."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_researcher
from annotation.assessment.numbers import numbers
from annotation.campaigns.images import image_names
from annotation.campaigns.overview import rich_texts
from annotation.data import uploads
from annotation.data.fields import fields_of, in_words, kinds_of_files
from annotation.forms import ColumnsForm, UploadForm
from annotation.jobs import worker_alive
from annotation.models import Upload
from annotation.views.paging import paged
from core.errors import Refused

FILES_SHOWN = 10


@login_required
def import_data(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        upload = uploads.receive(campaign, form.cleaned_data["file"], form.cleaned_data["kind"], request.user)
        return redirect("upload", slug, upload.pk)
    context = {
        "campaign": campaign,
        "form": form,
        "numbers": numbers(campaign, request.user).result,
        "pictures": image_names(campaign),
        "shapes": {in_words(what): fields_of(what) for what in kinds_of_files()},
        "files": paged(request, campaign.uploads.select_related("user"), FILES_SHOWN, "files"),
    }
    return render(request, "annotation/import.html", context, status=422 if request.method == "POST" else 200)


@login_required
def upload(request, slug, pk):
    campaign, stored = _upload(request, slug, pk)
    is_done = stored.state == Upload.State.STORED
    columns, rows = ([], []) if is_done else uploads.sample(stored)
    choices = [*columns, *stored.sample.get("nested", [])]
    form = None if is_done else ColumnsForm(request.POST or None, upload=stored, columns=choices)
    if request.method == "POST" and form and form.is_valid():
        try:
            if not stored.is_busy:
                uploads.change(stored, form.columns(), **form.options())
            uploads.run(stored, store=False)
            return redirect("upload", slug, pk)
        except Refused as refused:
            form.add_error(None, str(refused))
    following = campaign.uploads.filter(pk=stored.result["next"]).first() if stored.result.get("next") else None
    context = {
        "campaign": campaign,
        "upload": stored,
        "form": form,
        "columns": columns,
        "rows": rows,
        "job": stored.job if stored.is_busy or (stored.job and stored.job.status in ("failed", "cancelled")) else None,
        "worker_alive": not stored.is_busy or worker_alive(),
        "errors": paged(request, stored.error_entries(), name="errors"),
        "kinds": stored.result.get("kinds", []),
        "unused": stored.result.get("unused", []),
        "kept": kept_rows(stored.result),
        "left_out": list(stored.result.get("left_out", {}).items()),
        "elsewhere": [(in_words(kind), count) for kind, count in stored.result.get("elsewhere", {}).items()],
        "rich_texts": rich_texts(campaign) if is_done else None,
        "kind": in_words(stored.kind),
        "following": following,
        "following_kind": in_words(following.kind) if following else "",
        "new": [(n, in_words(kind, n)) for kind, n in stored.result.get("new", {}).items() if n],
    }
    return render(request, "annotation/upload.html", context, status=422 if request.method == "POST" else 200)


@require_POST
@login_required
def store(request, slug, pk):
    """Import it, by what the form beside the button says: where that is new, the file is checked by it first."""
    _, stored = _upload(request, slug, pk)
    try:
        if "columns_form" in request.POST and stored.state == Upload.State.FINE:
            columns = uploads.sample(stored)[0]
            form = ColumnsForm(request.POST, upload=stored, columns=[*columns, *stored.sample.get("nested", [])])
            if not form.is_valid():
                raise Refused(" ".join(str(error) for errors in form.errors.values() for error in errors))
            if uploads.change(stored, form.columns(), **form.options()):
                uploads.run(stored, store=False)
                if stored.state != Upload.State.FINE:
                    return redirect("upload", slug, pk)
        uploads.run(stored, store=True)
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("upload", slug, pk)


@require_POST
@login_required
def discard(request, slug, pk):
    _, stored = _upload(request, slug, pk)
    try:
        uploads.discard(stored)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("upload", slug, pk)
    messages.success(request, f"{stored.name} was discarded. Nothing was imported.")
    return redirect("import_data", slug)


def _upload(request, slug, pk):
    campaign = campaign_for_researcher(request.user, slug)
    return campaign, get_object_or_404(campaign.uploads.select_related("campaign", "user", "job"), pk=pk)


def kept_rows(result: dict) -> int:
    """Rows that are stored, or would be: all that were read, less those that were there already and those left out."""
    return result.get("rows", 0) - result.get("repeated", 0) - sum(result.get("left_out", {}).values())

"""The pictures that a campaign's texts show: sent by researchers, seen by whoever sees the texts."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from annotation.access import annotator_of, campaign_for_researcher, campaigns_researched_by
from annotation.campaigns import images
from core.errors import Refused


@require_POST
@login_required
def send(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    files = request.FILES.getlist("images")
    try:
        count = images.store_images(campaign, files, request.user)
    except Refused as refused:
        messages.error(request, f"No image was stored. {refused}")
    else:
        known = len(files) - count
        new = "1 new image" if count == 1 else f"{count} new images"
        messages.success(request, f"{new}; {known} {'was' if known == 1 else 'were'} stored before.")
    return redirect("import_data", slug)


@require_safe
@login_required
def image(request, slug, name):
    researched = campaigns_researched_by(request.user).filter(slug=slug).first()
    campaign = researched or annotator_of(request.user, slug).campaign
    path = images.shown_file(campaign, name)
    if path is None and researched and images.NAME.fullmatch(name):  # a name may tell whose output it is
        path = images.folder_of(campaign) / name
    if path is None or not path.is_file():
        raise Http404
    response = FileResponse(path.open("rb"), content_type=images.content_type(name))
    response["Cache-Control"] = "private, max-age=3600"
    return response

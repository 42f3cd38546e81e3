"""One comparator's card, and what can be done with it: promote, retire, take along."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_researcher
from annotation.data.uploads import read_at_once
from annotation.people.audit import exported
from core.errors import ImportRefused, Refused
from evaluator.trainings import dialogues
from evaluator.versions import admission, archive, card_view, registry, selectors
from evaluator.views.curves import learning_curves, reliability_chart


class FileForm(forms.Form):
    file = forms.FileField(allow_empty_file=True)


def _version(request, slug, name):
    campaign = campaign_for_researcher(request.user, slug)
    return campaign, get_object_or_404(campaign.comparators.select_related("run"), name=name)


@login_required
def card(request, slug, name):
    campaign, version = _version(request, slug, name)
    found = card_view.card(version, campaign, request.user)
    m = found["metrics"]
    context = {
        "campaign": campaign,
        "version": version,
        "card": found,
        "m": m,
        "gate_passed": registry.passed(found["gate"]),
        "joint": selectors.architecture(version) == "joint",
        "stage": found["stage"],
        "ceilings": selectors.ceilings(m, found["settings"]),
        "sources": selectors.sources(version),
        "curve": found["curve"],
        "charts": learning_curves(found["curve"]),
        "reliability": reliability_chart(m.get("reliability", [])),
        "promotions": campaign.promotions.select_related("version", "user")[:10],
        "used_before": campaign.promotions.filter(version=version).exists(),
    }
    return render(request, "evaluator/card.html", context)


@require_POST
@login_required
def promote(request, slug, name):
    campaign, version = _version(request, slug, name)
    return _done(
        request,
        slug,
        name,
        f"{version.name} is now in use in this campaign.",
        lambda: registry.promote(campaign, version, request.user, request.POST.get("reason", "")),
    )


@require_POST
@login_required
def retire(request, slug, name):
    campaign, version = _version(request, slug, name)
    return _done(
        request,
        slug,
        name,
        f"{version.name} is retired. Its earlier judgments are kept.",
        lambda: registry.retire(campaign, version, request.user),
    )


def _done(request, slug, name, said, work):
    try:
        work()
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, said)
    return redirect("comparator_card", slug, name)


@login_required
def download(request, slug, name):
    campaign, version = _version(request, slug, name)
    version.settings = card_view.settings(version, request.user)  # for the file; never saved
    try:
        packed = archive.pack(version, selectors.folder(version), card_view.figures(version, request.user))
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("comparator_card", slug, name)
    exported(f"comparator {version.name}", campaign, request.user)
    return FileResponse(packed, as_attachment=True, filename=f"{version.name}.zip", content_type="application/zip")


@require_POST
@login_required
def upload(request, slug):
    campaign, form = campaign_for_researcher(request.user, slug), FileForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, "Choose the zip file of a downloaded comparator.")
        return redirect("comparator", slug)
    try:
        admission.receive(campaign, form.cleaned_data["file"].chunks(), request.user)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "The file was uploaded. A worker checks it before it is added.")
    return redirect("comparator", slug)


@require_POST
@login_required
def import_dialogues(request, slug):
    campaign, form = campaign_for_researcher(request.user, slug), FileForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, "Choose a file with conversations, as JSON lines or CSV.")
        return redirect("comparator", slug)
    file = form.cleaned_data["file"]
    try:
        result = dialogues.import_dialogues(campaign, *read_at_once(file), user=request.user)
    except ImportRefused as refused:
        more = f" And {refused.total - 3} more." if refused.total > 3 else ""
        messages.error(request, "Nothing was imported. " + " ".join(f"{e}." for e in refused.errors[:3]) + more)
    else:
        new = result.new.get("dialogues", 0)
        messages.success(request, f"{result.rows:,} rows read; {new:,} new conversations.")
    return redirect("comparator", slug)

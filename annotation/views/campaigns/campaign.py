"""A campaign as its researchers see it first, and its guidelines."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import redirect, render

from annotation.access import annotator_of, campaign_for_researcher, campaigns_researched_by
from annotation.assessment.numbers import WHAT, numbers
from annotation.campaigns import lifecycle
from annotation.forms import GuidelinesForm
from annotation.jobs import worker_alive
from annotation.models import Annotator, Campaign
from annotation.people.languages import speak_english
from annotation.views.jobs import MADE, with_results
from core.errors import Refused


@login_required
def campaign(request, slug):
    try:
        shown = campaign_for_researcher(request.user, slug)
    except Http404:
        annotator_of(request.user, slug)  # outsiders end here
        return redirect("annotate", slug)
    jobs = with_results(shown.jobs.exclude(calculation__what=WHAT).select_related("campaign", *MADE)[:5])
    followed = numbers(shown, request.user)
    context = {
        "campaign": shown,
        "numbers": followed.result,
        "counted_as_of": followed.as_of,
        "criteria": shown.criteria.all(),
        "jobs": jobs,
        "worker_alive": worker_alive() if any(not job.is_finished for job in jobs) else True,
        "events": shown.audit_events.select_related("user", "subject")[:10],
        "statuses": Campaign.Status.choices,
    }
    return render(request, "annotation/campaign.html", context)


@login_required
def guidelines(request, slug):
    """To read for annotators; to read and write for researchers."""
    own = campaigns_researched_by(request.user).filter(slug=slug).first()
    annotator = Annotator.objects.select_related("campaign").filter(campaign__slug=slug, user=request.user).first()
    if own is None and annotator is None:
        raise Http404
    if own:
        speak_english(request)
    form = GuidelinesForm(request.POST or None, initial={"guidelines": own.guidelines}) if own else None
    if request.method == "POST" and own is None:
        raise Http404
    if request.method == "POST" and form.is_valid():
        try:
            lifecycle.set_guidelines(own, form.cleaned_data["guidelines"], request.user)
        except Refused as refused:
            form.add_error("guidelines", str(refused))
        else:
            messages.success(request, "The guidelines are saved.")
            return redirect("guidelines", slug)
    shown = own or annotator.campaign
    context = {"campaign": shown, "form": form, "annotator": annotator, "is_researcher": own is not None}
    return render(request, "annotation/guidelines.html", context, status=422 if form and form.errors else 200)

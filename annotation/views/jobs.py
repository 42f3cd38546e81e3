"""All jobs, for admins. A job's state as JSON, for the pages that wait for it; to cancel it, start it again; what it made."""

from collections.abc import Iterable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import Http404, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotation import jobs
from annotation.access import campaigns_researched_by, for_admins
from annotation.assessment import preference_files
from annotation.assessment.numbers import WHAT
from annotation.models import Job, Upload
from annotation.templatetags.texts import minutes
from annotation.views.paging import paged, searched

MADE = ("training_run__version", "tournament")  # to be selected with the jobs of `with_results`


def _job(user, pk) -> Job:
    """A job of a campaign whose results the user may see; admins see all."""
    job = get_object_or_404(Job.objects.select_related("campaign"), pk=pk)
    if not (user.is_admin or (job.campaign and campaigns_researched_by(user).filter(pk=job.campaign_id).exists())):
        raise Http404
    return job


@for_admins
def job_list(request):
    """GET ?state=NAME of Job.Status, ?job=words. Those that counted the numbers of a page are done a thousand times a day."""
    state = request.GET.get("state", "")
    state = state if state in Job.Status.values else ""
    rows = Job.objects.exclude(calculation__what=WHAT, status=Job.Status.DONE).select_related("campaign", "created_by", *MADE)
    numbers = dict(Job.objects.order_by().values_list("status").annotate(Count("pk")))
    found, asked = searched(request, rows.filter(status=state) if state else rows, "title", "campaign__title", name="job")
    page = paged(request, found)
    page.object_list = with_results(page.object_list)
    states = [("", "All", None), *((name, title.capitalize(), numbers.get(name, 0)) for name, title in Job.Status.choices)]
    return render(request, "annotation/jobs.html", {"jobs": page, "asked": asked, "state": state, "states": states})


@never_cache
@login_required
def state(request, pk):
    job = _job(request.user, pk)
    return JsonResponse(
        {
            "status": job.status,
            "status_text": job.get_status_display(),
            "progress": job.progress,
            "message": job.message,
            "left": _left(job),
            "error": job.error,
            "finished": job.is_finished,
            "worker_alive": job.is_finished or jobs.worker_alive(job.task),
        }
    )


@require_POST
@login_required
def cancel(request, pk):
    job = _job(request.user, pk)
    jobs.cancel(job)
    messages.info(request, f"{job.title} was asked to stop.")
    return _back(request, job)


@require_POST
@login_required
def retry(request, pk):
    job = _job(request.user, pk)
    if not jobs.retry(job):
        messages.warning(request, f"{job.title} is not failed or cancelled, so it was not started again.")
    return _back(request, job)


def _left(job: Job) -> str:
    return f"about {minutes(job.minutes_left)} left" if job.minutes_left else ""


def with_results(jobs: Iterable[Job]) -> list[Job]:
    """The jobs, each with `result`: the address of what it made; empty where it is not done or made no page."""
    listed = list(jobs)
    uploads = dict(Upload.objects.filter(job__in=listed).values_list("job_id", "pk"))
    for job in listed:
        is_made = job.status == Job.Status.DONE and job.campaign
        job.result = _result(job, uploads.get(job.pk)) if is_made else ""  # type: ignore[attr-defined]
    return listed


def _result(job: Job, upload) -> str:
    version = getattr(getattr(job, "training_run", None), "version", None)
    tournament = getattr(job, "tournament", None)
    if upload:
        return reverse("upload", args=[job.campaign.slug, upload])
    if version:
        return reverse("comparator_card", args=[job.campaign.slug, version.name])
    if job.task == preference_files.TASK:
        return preference_files.address(job)
    if job.task in ("archives.export", "publication.write"):
        return reverse("ways_out", args=[job.campaign.slug])
    if job.task in ("evaluator.tasks.set_beside_people", "evaluator.tasks.ask_anchors"):
        return reverse("judges", args=[job.campaign.slug])
    return tournament.get_absolute_url() if tournament else ""


def _back(request, job):
    target = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}, require_https=request.is_secure()):
        return HttpResponseRedirect(target)  # `redirect` would look for a page of this name
    return redirect(job.campaign) if job.campaign else redirect("home")

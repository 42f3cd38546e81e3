"""The first page: for everybody what concerns them."""

from django.contrib.auth.decorators import login_not_required
from django.db.models import OuterRef
from django.shortcuts import render
from django.utils import timezone

from annotation.access import campaigns_researched_by
from annotation.campaigns.overview import counted
from annotation.jobs import ALIVE, worker_alive
from annotation.models import Annotator, Assignment, Job, Output, WorkerPulse
from annotation.people import first_admin
from annotation.people.languages import speak_english
from annotation.questions import store
from annotation.views.jobs import MADE, with_results
from annotation.views.paging import paged, searched

JOBS_SHOWN = CARDS = 12


@login_not_required
def home(request):
    if not request.user.is_authenticated:
        speak_english(request)
        return render(request, "annotation/welcome.html", {"offers_first_admin": first_admin.is_offered(request)})
    researched, asked = searched(request, _with_numbers(campaigns_researched_by(request.user)), "title", "slug")
    context = {
        "mine": paged(request, _annotators(request.user), CARDS, "mine"),
        "researched": paged(request, researched),
        "asked": asked,
        "may_create": request.user.may_create_campaigns or request.user.is_admin,
    }
    if request.user.is_admin:
        jobs = Job.objects.select_related("campaign", *MADE)
        jobs, context["asked_job"] = searched(request, jobs, "title", "campaign__title", "status", name="job")
        context["jobs"] = paged(request, jobs, JOBS_SHOWN, "jobs")
        context["jobs"].object_list = with_results(context["jobs"].object_list)
        context["workers"] = WorkerPulse.objects.filter(seen_at__gte=timezone.now() - ALIVE)
    if context["may_create"] or asked or context["researched"].paginator.count:
        speak_english(request)
    if request.user.is_admin or asked or context["researched"].paginator.count:
        context["worker_alive"] = worker_alive()
    return render(request, "annotation/home.html", context)


def _annotators(user):
    """The user's annotators with how many items each has done."""
    rows = Annotator.objects.filter(user=user, campaign__deleted_at=None)
    done = Assignment.objects.filter(annotator=OuterRef("pk"), status=Assignment.Status.DONE)
    return rows.select_related("campaign").annotate(done=counted(done, "annotator")).order_by("-campaign__created_at", "-pk")


def _with_numbers(campaigns):
    """One query: each campaign with its counts, by subqueries that do not multiply each other."""
    scores, judgments = store.counted()
    return campaigns.annotate(
        output_count=counted(Output.objects.filter(context__campaign=OuterRef("pk")), "context__campaign"),
        score_count=counted(scores.filter(criterion__campaign=OuterRef("pk")), "criterion__campaign"),
        judgment_count=counted(judgments.filter(annotator__campaign=OuterRef("pk")), "annotator__campaign"),
        annotator_count=counted(Annotator.objects.filter(campaign=OuterRef("pk")), "campaign"),
    )

"""The first page: for everybody what concerns them."""

from django.contrib.auth.decorators import login_not_required
from django.db.models import Count, OuterRef, Q
from django.shortcuts import render
from django.utils import timezone

from annotation.access import campaigns_researched_by
from annotation.assessment.numbers import give_numbers
from annotation.campaigns.overview import counted
from annotation.jobs import ALIVE, worker_alive
from annotation.models import Annotator, Assignment, Job, WorkerPulse
from annotation.people import first_admin
from annotation.people.languages import speak_english
from annotation.views.paging import paged, searched

CARDS = 12
SHOWN = (Job.Status.RUNNING, Job.Status.QUEUED, Job.Status.FAILED)  # how many jobs are


@login_not_required
def home(request):
    if not request.user.is_authenticated:
        speak_english(request)
        return render(request, "annotation/welcome.html", {"offers_first_admin": first_admin.is_offered(request)})
    researched, asked = searched(request, campaigns_researched_by(request.user), "title", "slug")
    researched = paged(request, researched)
    researched.object_list = list(researched.object_list)
    give_numbers(researched.object_list, request.user)
    context = {
        "mine": paged(request, _annotators(request.user), CARDS, "mine"),
        "researched": researched,
        "asked": asked,
        "may_create": request.user.may_create_campaigns or request.user.is_admin,
    }
    if request.user.is_admin:
        context["jobs"] = Job.objects.order_by().aggregate(**{state: Count("pk", filter=Q(status=state)) for state in SHOWN})
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

"""The annotator's pages: read the guidelines, answer, undo, finish. The next item is assignment.py's choice."""

import time
import uuid

from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotation import services
from annotation.access import annotator_of
from annotation.assignment import next_assignment, progress
from annotation.errors import Refused
from annotation.models import Campaign, Submission

SHOWN = "annotation.shown"  # salt of the signed time at which a page was shown
ONE_LINE, BUTTONS = 11, 21  # points that fit beside each other on a phone; that are buttons and not a number field


@never_cache
@login_required
def annotate(request, slug):
    annotator = annotator_of(request.user, slug)
    if request.method == "POST":
        return _submit(request, annotator)
    done = progress(annotator)
    if not done.done and "start" not in request.GET and annotator.campaign.status == Campaign.Status.OPEN:
        return redirect("guidelines", slug)
    assignment = next_assignment(annotator)
    if assignment is None:
        return _rest(request, annotator, done)
    answer = _undone_answer(assignment) if "again" in request.GET else {}
    return _show(request, annotator, assignment, done, answer)


def _submit(request, annotator):
    answer = _answer(request.POST)
    key, assignment_id = _key(request.POST.get("key")), request.POST.get("assignment")
    try:
        if key is None:
            raise Refused("The answer came without its key; load the page again.")
        seconds = _seconds(request.POST.get("shown"), assignment_id)
        services.submit(annotator, _number(assignment_id), key, answer, seconds)
    except Refused as refused:
        assignment, done = next_assignment(annotator), progress(annotator)
        if assignment is None:
            return _rest(request, annotator, done, refused=refused, status=422)
        if str(assignment.pk) != request.POST.get("assignment"):
            answer = {}
        return _show(request, annotator, assignment, done, answer, refused=refused, status=422)
    return _see_other(reverse("annotate", args=[annotator.campaign.slug]) + "?start=1")


@require_POST
@login_required
def undo(request, slug):
    annotator = annotator_of(request.user, slug)
    try:
        reopened = services.undo_last(annotator, in_hand=_number(request.POST.get("in_hand")))
    except Refused as refused:
        return _rest(request, annotator, progress(annotator), refused=refused, status=422)
    return _see_other(reverse("annotate", args=[slug]) + ("?start=1&again=1" if reopened else "?start=1"))


def _show(request, annotator, assignment, done, answer, refused=None, status=200):
    campaign, item = annotator.campaign, assignment.item
    left, right = (item.other, item.output) if assignment.swapped else (item.output, item.other)
    context = {
        "campaign": campaign,
        "assignment": assignment,
        "turns": item.output.context.turns,
        "output": item.output,
        "left": left,
        "right": right,
        "criteria": [] if item.is_pair else _with_points(campaign, answer.get("scores", {}), refused),
        "choice": answer.get("choice"),
        "progress": done,
        "refused": refused,
        "key": (refused and _key(request.POST.get("key"))) or uuid.uuid4(),
        "shown": (refused and request.POST.get("shown")) or signing.dumps([assignment.pk, time.time()], salt=SHOWN),
    }
    return render(request, f"annotation/{'pair' if item.is_pair else 'score'}.html", context, status=status)


def _with_points(campaign, scores: dict, refused) -> list[dict]:
    """Each criterion with what was answered, and whether the answer is what was refused."""
    criteria = []
    for criterion in campaign.criteria.all():
        value = scores.get(criterion.pk)
        criteria.append({
            "criterion": criterion, "value": value,
            "is_many": len(criterion.points) > ONE_LINE, "is_long": len(criterion.points) > BUTTONS,
            "missing": bool(refused) and value not in criterion.points,
        })  # fmt: skip
    return criteria


def _rest(request, annotator, done, refused=None, status=200):
    """Nothing to answer now: finished, nothing yet, or the campaign rests."""
    context = {"campaign": annotator.campaign, "progress": done, "refused": refused}
    return render(request, "annotation/rest.html", context, status=status)


def _answer(posted) -> dict:
    """{"choice": "left"} or {"scores": {criterion id: score}} of what was filled in; the service says what is missing."""
    if "choice" in posted:
        return {"choice": posted["choice"]}
    scores = {}
    for name, value in posted.items():
        criterion = _number(name.removeprefix("score_")) if name.startswith("score_") else None
        score = _number(value)
        if criterion is not None and score is not None:
            scores[criterion] = score
    return {"scores": scores}


def _undone_answer(assignment) -> dict:
    """What this person had answered before undoing it, to be shown again."""
    last = Submission.objects.filter(assignment=assignment).exclude(retracted_at=None).order_by("-retracted_at").first()
    if last is None:
        return {}
    scores = last.payload.get("scores", {})
    return {"scores": {int(pk): value for pk, value in scores.items()}, "choice": last.payload.get("choice")}


def _seconds(shown: str | None, assignment: str | None) -> float | None:
    """From showing the page to now; None where the signed time is missing or of another item."""
    try:
        shown_assignment, shown_at = signing.loads(shown or "", salt=SHOWN)
    except signing.BadSignature:
        return None
    return max(0.0, time.time() - shown_at) if str(shown_assignment) == assignment else None


def _key(text: str | None) -> uuid.UUID | None:
    try:
        return uuid.UUID(text or "")
    except ValueError:
        return None


def _number(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None


def _see_other(url: str):
    return HttpResponseRedirect(url, status=303)

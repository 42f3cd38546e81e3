"""The annotator's work: answer, undo, skip, report, finish. The next item is assignment.py's choice."""

from django.contrib import messages
from django.http import Http404, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotation.annotating import consent, reports, submissions
from annotation.annotating.assignment import progress, turn
from annotation.annotating.completion import completion, is_finished
from annotation.annotating.feedback import checks, shows_known_answer
from annotation.annotating.item_page import (
    answer_again,
    answer_of,
    context_key,
    hidden_fields,
    item_context,
    key_of,
    number,
    page_key,
    page_of,
    times_of,
)
from annotation.annotating.undo import undo_last
from annotation.models import Campaign, Submission
from annotation.people import notices
from annotation.questions.store import of_submission
from annotation.views.people.sign_in import for_annotators
from core.errors import Refused

FEEDBACK_SHOWS = ("assignment__item__output__context", "assignment__item__other")


@never_cache
@for_annotators
def annotate(request, annotator):
    if request.method == "POST":
        return _submit(request, annotator)
    return _next(request, annotator)


def _next(request, annotator, current=None, **page):
    """The page of the item in hand, or of why there is none. current: the turn, where it is known already."""
    if annotator.withdrawn_at:
        return _rest(request, annotator, None, **page)
    if annotator.newest_consent != annotator.consent_id and consent.consent_due(annotator):
        return redirect("consent", annotator.campaign.slug)
    fresh = request.method == "GET" and "start" not in request.GET
    if fresh and annotator.campaign.status == Campaign.Status.OPEN and not progress(annotator).done:
        return redirect("guidelines", annotator.campaign.slug)
    current = current or turn(annotator)
    if current.assignment is None:
        return _rest(request, annotator, current.progress, **page)
    return _item(request, annotator, current, **page)


def _submit(request, annotator):
    posted, current = request.POST, None
    key, assignment_id = key_of(posted), number(posted.get("assignment"))
    try:
        if key is None:
            raise Refused(gettext("The answer came without its key. Please reload the page."))
        answer = annotator, assignment_id, key, answer_of(posted)
        if wants_swap(request):
            submission, current = submissions.submit_and_go_on(*answer, **times_of(posted, assignment_id))
        else:
            submission = submissions.submit(*answer, **times_of(posted, assignment_id))
    except Refused as refused:
        return _next(request, annotator, refused=refused, status=422)
    say_left_out(request, submission)
    if shows_known_answer(submission, annotator.campaign):
        return HttpResponseRedirect(reverse("feedback", args=[annotator.campaign.slug, submission.key]), status=303)
    return _next(request, annotator, current) if current else see_other("annotate", annotator)


def say_left_out(request, submission: Submission) -> None:
    """Without scripts all questions are shown, also those that are not asked."""
    if submission.left_out:
        names = {"criteria": ", ".join(submission.left_out)}
        messages.info(request, gettext("Not stored, since it was not asked: %(criteria)s.") % names)


@never_cache
@for_annotators
def feedback(request, annotator, key):
    """What was expected of a practice item, or of a gold one that was missed where the campaign says so at once."""
    submission = get_object_or_404(annotator.submissions.select_related(*FEEDBACK_SHOWS), pk=key)
    if not shows_known_answer(submission, annotator.campaign):
        raise Http404
    assignment = submission.assignment
    answer_checks = checks(assignment.item, of_submission(submission), assignment.swapped)
    context = {
        **item_context(annotator.campaign, assignment.item, assignment.shown),
        "checks": answer_checks,
        "all_right": bool(answer_checks) and all(check.is_right for check in answer_checks),
        "feedback": (assignment.item.expected or {}).get("feedback", ""),
        "purpose": assignment.purpose,
    }
    return render(request, "annotation/feedback.html", context)


@require_POST
@for_annotators
def undo(request, annotator):
    try:
        reopened = undo_last(annotator, in_hand=number(request.POST.get("in_hand")))
    except Refused as refused:
        messages.warning(request, str(refused))
        reopened = None
    return see_other("annotate", annotator, "again=1" if reopened else "")


@require_POST
@for_annotators
def skip(request, annotator):
    return _report(request, annotator, reports.skip, gettext("Skipped. Somebody else will judge this item."))


@require_POST
@for_annotators
def flag(request, annotator):
    return _report(request, annotator, reports.flag, gettext("Reported. Answer the item if you can, or skip it."))


@require_POST
@for_annotators
def ask(request, annotator):
    return _report(request, annotator, reports.ask, gettext("Sent. You will find the reply on the page “Your answers”."))


def _report(request, annotator, report, thanks):
    try:
        report(annotator, number(request.POST.get("assignment")), request.POST.get("why", ""))
        messages.success(request, thanks)
    except Refused as refused:
        messages.warning(request, str(refused))
    return see_other("annotate", annotator)


def _item(request, annotator, current, refused=None, status=200):
    """An answer that was refused stays in its form, unless another item is in hand by now."""
    assignment = current.assignment
    is_same = refused is not None and number(request.POST.get("assignment")) == assignment.pk
    answer = answer_of(request.POST) if is_same else _undone(assignment) if "again" in request.GET else None
    swap, has_begun = wants_swap(request), bool(current.progress.done)
    shown = item_context(annotator.campaign, assignment.item, assignment.shown, answer, refused)
    is_own = answer or refused or shown["suggested"]
    context = {
        **shown,
        **hidden_fields(assignment, request.POST if is_same else None),
        "page_key": None if is_own else page_key(annotator.campaign, assignment.item, swap, has_begun),
        "context_key": context_key(annotator.campaign, assignment.item.context),
        "progress": current.progress,
        "action": reverse("annotate", args=[annotator.campaign.slug]),
        "minutes": current.minutes,
        "swap": swap,
        "page": page_of(assignment.item),
        "unread_replies": annotator.unread_replies,
    }
    return render(request, "annotation/item_page.html", context, status=status)


def _undone(assignment) -> dict | None:
    """What this person had answered before undoing it, to be shown again."""
    last = Submission.objects.filter(assignment=assignment).exclude(retracted_at=None).order_by("-retracted_at").first()
    return answer_again(last.payload) if last else None


def _rest(request, annotator, done, refused=None, status=200):
    """Nothing to answer now: finished, nothing yet, withdrawn, or the campaign rests."""
    finished = done is not None and is_finished(annotator, done)
    if finished:
        notices.note_finished(annotator)
    context = {
        "campaign": annotator.campaign,
        "annotator": annotator,
        "progress": done,
        "refused": refused,
        "swap": wants_swap(request),
        "is_finished": finished,
        "completion": completion(annotator, done) if done is not None else None,
    }
    return render(request, "annotation/rest.html", context, status=status)


def wants_swap(request) -> bool:
    """The page's own script asks, and puts the answer's <main> in the place of its own."""
    return "X-Swap" in request.headers


def see_other(name: str, annotator, query: str = ""):
    url = reverse(name, args=[annotator.campaign.slug])
    return HttpResponseRedirect(f"{url}?start=1{'&' if query else ''}{query}", status=303)

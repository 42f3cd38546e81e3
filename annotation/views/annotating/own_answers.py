"""An annotator's own answers: all of them, page by page, and each to be changed while the campaign is open."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import Http404, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache

from annotation.annotating import submissions
from annotation.annotating.item_page import (
    LETTERS,
    answer_again,
    answer_of,
    hidden_fields,
    item_context,
    key_of,
    page_of,
    times_of,
)
from annotation.annotating.submissions import live_submissions, may_change
from annotation.campaigns.item_reports import latest_first, mark_read
from annotation.campaigns.items import load_further
from annotation.questions import registry
from annotation.questions.kind import Question
from annotation.views.annotating.item import say_left_out
from annotation.views.paging import paged
from annotation.views.people.sign_in import for_annotators
from core.errors import Refused

A_PAGE = 20


@never_cache
@for_annotators
def answers(request, annotator):
    campaign = annotator.campaign
    submissions = live_submissions(annotator).select_related("assignment__item__output", "assignment__item__other")
    page = paged(request, submissions, A_PAGE)
    load_further([submission.assignment.item for submission in page])
    for submission in page:
        assignment = submission.assignment
        assignment.item.campaign = campaign
        submission.texts = list(zip(LETTERS, assignment.shown))
        submission.words = _in_words(submission.payload, registry.asked(campaign, assignment.item))
        submission.may_change = may_change(assignment, campaign)
    asked = paged(request, latest_first(annotator), A_PAGE, "asked")
    context = {"campaign": campaign, "annotator": annotator, "page": page, "asked": asked}
    if asked.number == 1:
        mark_read(annotator)
    return render(request, "annotation/answers.html", context)


def _in_words(payload: dict, questions: Sequence[Question]) -> list[tuple[str, str]]:
    """[(criterion, what was answered)], the criterion empty for the whole."""
    sent = [(question, question.kind.sent(payload, question)) for question in questions]
    words = [
        (question.criterion.name if question.criterion else "", question.kind.in_words(answer))
        for question, answer in sent
        if answer is not None
    ]
    if payload.get("reason"):
        on_pair = any(question.on_pairs for question in questions)
        words.append((gettext("Reason") if on_pair else gettext("Comment"), payload["reason"]))
    return words


@never_cache
@for_annotators
def answer(request, annotator, pk):
    """One earlier answer in its form again."""
    live = live_submissions(annotator).select_related("assignment__item__output__context", "assignment__item__other")
    submission = live.filter(assignment=pk).first()
    if submission is None:
        raise Http404
    shown, refused = answer_again(submission.payload), None
    if request.method == "POST":
        try:
            _revise(request, annotator, pk)
        except Refused as error:
            shown, refused = answer_of(request.POST), error
        else:
            messages.success(request, gettext("Your answer was changed."))
            return HttpResponseRedirect(reverse("answers", args=[annotator.campaign.slug]), status=303)
    assignment = submission.assignment
    context = {
        **item_context(annotator.campaign, assignment.item, assignment.shown, shown, refused),
        **hidden_fields(assignment, request.POST if refused else None),
        "action": reverse("answer", args=[annotator.campaign.slug, pk]),
        "revising": True,
        "replies": submission.assignment.item.reports.filter(annotator=annotator).exclude(reply=""),
        "may_change": may_change(assignment, annotator.campaign),
    }
    return render(request, page_of(assignment.item), context, status=422 if refused else 200)


def _revise(request, annotator, pk):
    key = key_of(request.POST)
    if key is None:
        raise Refused(gettext("The answer came without its key. Please reload the page."))
    say_left_out(request, submissions.revise(annotator, pk, key, answer_of(request.POST), **times_of(request.POST, pk)))

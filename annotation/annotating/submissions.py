"""What annotators send: stored once, kept for ever, changed without being lost."""

import json
import uuid

from django.db import connection, transaction
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext

from annotation.annotating import places
from annotation.annotating.answer_rows import rows_of
from annotation.annotating.assignment import Turn, lock, turn
from annotation.annotating.history import STORED, History, read_history_for
from annotation.models import Annotator, Assignment, Campaign, Item, Purpose, Submission
from annotation.questions import registry, store
from annotation.statements import Statement, insert
from core.errors import Refused

LONGEST = 100_000  # characters of an answer as JSON, marked errors with their words
MOST_ANSWERS = 100  # of one person to one item, those that were taken back too
ANSWERED = ("annotator", "purpose", "swapped", "item__output", "item__other", "item__cell")  # what storing an answer looks at
ASSIGNED = Statement(
    lambda key, annotator, assignment: (
        Assignment.objects.filter(annotator=annotator, pk=assignment)
        .select_related("item")
        .only(*ANSWERED)
        .annotate(stored=RawSQL(STORED, (key,), BooleanField()))
    ),
    arguments=3,
    texts=(0,),
)


@transaction.atomic
def submit(
    annotator: Annotator, assignment_id: int, key: uuid.UUID, answer: dict, seconds=None, active_seconds=None
) -> Submission:
    """Store one answer: {"scores": {criterion id: value}}, {"choice": "left" | "tie" | "right"}, or, where pairs are
    judged on each criterion, {"choices": {criterion id: the same}}; a pair's may hold a "reason" too.

    The key was made with the page: the same key again returns the first submission and stores nothing. An answer to
    an item that this person already answered, or whose place went to another meanwhile, is kept as surplus.
    seconds: from showing the page to the answer; active_seconds: the same less idle time.
    Answers to questions whose condition does not hold are not stored; `left_out` of what is returned names their criteria.
    Raises Refused where the answer is incomplete or off the scale, or the assignment is not this person's.
    """
    lock(annotator)
    return _submit(annotator, assignment_id, key, answer, seconds, active_seconds)[0]


def submit_and_go_on(annotator: Annotator, *answer, **times) -> tuple[Submission, Turn]:
    """submit (its arguments, its errors), and what to put before the person next; as a rule in one transaction."""
    stored = []

    def first() -> History | None:
        submission, history = _submit(annotator, *answer, **times)
        stored.append(submission)
        return history

    now = turn(annotator, first)
    return stored[0], now


def _submit(annotator, assignment_id, key, answer, seconds=None, active_seconds=None) -> tuple[Submission, History | None]:
    """(what is stored, the person's history after it, where it is known)"""
    _refuse_withdrawn(annotator)
    history, in_hand = read_history_for(annotator, assignment_id, _stored_key(key))
    assignment, known = (in_hand, None) if in_hand else _assignment(annotator, assignment_id, key)
    answer, left_out = registry.without_unasked(annotator.campaign, _item(assignment, known), answer)
    if known:
        return _same(known, answer, left_out), None
    assert assignment is not None, "_assignment gives one of the two"
    rows = rows_of(annotator, assignment, annotator.campaign, answer)
    surplus = not places.close(assignment)
    if surplus:
        refuse_endless(assignment)
    submission = _store(annotator, assignment, key, answer, rows, seconds, active_seconds, surplus)
    submission.left_out = left_out
    if in_hand is None or in_hand.completed_at is None:  # it changed while it was read
        return submission, None
    history.answer(in_hand)
    return submission, history


@transaction.atomic
def revise(
    annotator: Annotator, assignment_id: int, key: uuid.UUID, answer: dict, seconds=None, active_seconds=None
) -> Submission:
    """Put a new answer in the place of one given earlier, while the campaign is open; the old one is retracted, not
    deleted. Arguments and errors as for submit."""
    lock(annotator)
    _refuse_withdrawn(annotator)
    assignment, known = _assignment(annotator, assignment_id, key)
    answer, left_out = registry.without_unasked(annotator.campaign, _item(assignment, known), answer)
    if known:
        return _same(known, answer, left_out)
    assert assignment is not None, "_assignment gives one of the two"
    if not may_change(assignment, annotator.campaign):
        raise Refused(gettext("You cannot change this answer: the campaign is not open, or you have seen the expected answer."))
    earlier = live_submissions(annotator).filter(assignment=assignment).first()
    if earlier is None:
        raise Refused(gettext("There is no answer of yours to change here."))
    refuse_endless(assignment)
    rows = rows_of(annotator, assignment, annotator.campaign, answer)
    store.retract(earlier)
    submission = _store(annotator, assignment, key, answer, rows, seconds, active_seconds)
    submission.left_out = left_out
    return submission


def may_change(assignment: Assignment, campaign: Campaign) -> bool:
    """May the person still change this answer? Not once the known answer was shown to them."""
    answer_shown = {Purpose.TRAINING, Purpose.QUALIFICATION} | ({Purpose.GOLD} if campaign.gold_is_loud else set())
    return campaign.status == Campaign.Status.OPEN and assignment.purpose not in answer_shown


def refuse_endless(assignment: Assignment) -> None:
    """Before an answer is put in the place of another, or kept beside it: all are kept. Raises Refused."""
    if assignment.submissions.count() >= MOST_ANSWERS:
        said = gettext("You have answered this item %(count)d times. The last answer stays.")
        raise Refused(said % {"count": MOST_ANSWERS})


def live_submissions(annotator: Annotator):
    """The answers that stand, the latest first."""
    return annotator.submissions.filter(retracted_at=None, is_surplus=False).order_by("-created_at")


def _assignment(annotator: Annotator, assignment_id: int, key: uuid.UUID) -> tuple[Assignment | None, Submission | None]:
    """The assignment an answer is for, or the submission that this key already stands for."""
    assignment = None if assignment_id is None else ASSIGNED.first(_stored_key(key), annotator.pk, assignment_id)
    if assignment is None or assignment.stored:  # annotated
        known = Submission.objects.filter(pk=key).first()
        if known is not None and known.annotator_id != annotator.pk:
            raise Refused(gettext("This answer has the key of somebody else's answer. Please reload the page."))
        if known is None:
            raise Refused(gettext("This item is not assigned to you. Please reload the page."))
        return None, known
    return assignment, None


def _item(assignment: Assignment | None, known: Submission | None) -> Item:
    """What is answered, now or under the same key before."""
    of = assignment or (known and known.assignment)
    assert of is not None, "_assignment gives one of the two"
    return of.item


def _refuse_withdrawn(annotator: Annotator) -> None:
    if annotator.withdrawn_at:
        raise Refused(gettext("You have withdrawn from this campaign. No further answers of yours are stored."))


def _stored_key(key: uuid.UUID):
    """As the database has it."""
    return Submission._meta.pk.get_db_prep_value(key, connection)


def _same(known: Submission, answer: dict, left_out: list[str]) -> Submission:
    """What was stored under the key. Raises Refused where the answer is another one now: nobody is told that it is stored."""
    if known.payload != _payload(answer):
        raise Refused(
            gettext("An answer to this item is stored already, and it is another one. You can change it under “Your answers”.")
        )
    known.left_out = left_out
    return known


def _payload(answer: dict) -> dict:
    payload = {k: {str(c): v for c, v in a.items()} if isinstance(a, dict) else a for k, a in answer.items()}
    if len(json.dumps(payload, ensure_ascii=False)) > LONGEST:
        raise Refused(gettext("The answer is longer than %(count)s characters.") % {"count": LONGEST})
    return payload


def _store(annotator, assignment, key, answer, rows, seconds, active_seconds, surplus=False) -> Submission:
    submission = Submission(
        key=key,
        annotator=annotator,
        assignment=assignment,
        seconds=seconds,
        active_seconds=active_seconds,
        is_surplus=surplus,
        payload=_payload(answer),
    )
    if surplus:
        insert([submission])
    else:
        if annotator.campaign.outputs_at_once > 2:
            store.give_way(rows)
        store.save(rows, submission)
    return submission

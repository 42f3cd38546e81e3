"""Turn an answer as the page sends it into database rows; Refused says what is missing or impossible."""

from django.utils.translation import gettext

from annotation.models import Annotator, Assignment, Campaign
from annotation.questions import registry
from annotation.questions.kind import Question
from annotation.questions.store import REASON_LENGTH
from core.errors import Refused


def rows_of(annotator: Annotator, assignment: Assignment, campaign: Campaign, answer: dict) -> list:
    """Unsaved answers, one for each question that was not left empty, or one for each pair of a ranking; never none. answer:
    without what was not asked (`registry.without_unasked`)."""
    reason = str(answer.get("reason") or "").strip()
    if len(reason) > REASON_LENGTH:
        raise Refused(gettext("The comment is longer than %(count)s characters.") % {"count": REASON_LENGTH})
    questions = registry.asked(campaign, assignment.item)
    if not questions:
        raise Refused(gettext("This campaign has no criteria yet."))
    unasked = {criterion.pk for criterion in registry.unasked(campaign, assignment.item, answer)}
    rows, open_questions = [], []
    for question in questions:
        sent = question.kind.sent(answer, question)
        if sent is None:
            open_questions.append(question)
            continue
        of_answer = question.kind.rows(question, assignment, question.kind.given(question, sent), reason)
        for row in of_answer:
            row.annotator, row.purpose = annotator, assignment.purpose
        rows += of_answer
    _refuse_missing([question for question in open_questions if not question.is_optional and question.key not in unasked])
    if not rows:
        raise Refused(gettext("Answer at least one question, or skip the item."))
    return rows


def _refuse_missing(questions: list[Question]) -> None:
    if questions:
        first = questions[0].kind
        raise Refused(first.please([question for question in questions if question.kind is first]))

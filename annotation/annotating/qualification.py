"""Did a person pass the qualification round?"""

from collections import defaultdict

from annotation.design.known_answer_check import is_right, passes
from annotation.models import Annotator, Assignment, Purpose
from annotation.questions import registry, store


def answers_of(annotator: Annotator, purpose: str) -> dict[int, dict]:
    """{item id: answer, as annotation.design.known_answer_check reads it} of this person's live answers for one purpose."""
    answers: dict[int, dict] = defaultdict(dict)
    for rows in store.checks_of(annotator, purpose).values():
        for row in rows:
            kind, answer = registry.of_row(row).kind, answers[row.submission.assignment.item_id]
            if row.criterion is None:
                answer["choice"] = kind.as_given(row)
            else:
                answer.setdefault(kind.part, {})[row.criterion.name] = kind.as_given(row)
    return answers


def right_answers(annotator: Annotator, purpose: str) -> tuple[int, int]:
    """(right, asked) of the items with a known answer that this person was handed; a skipped one is asked and not right."""
    answers = answers_of(annotator, purpose)
    assignments = annotator.assignments.filter(purpose=purpose, item__expected__isnull=False)
    assignments = assignments.filter(status__in=[Assignment.Status.DONE, Assignment.Status.SKIPPED])
    expected = dict(assignments.values_list("item", "item__expected"))
    return sum(item in answers and is_right(known or {}, answers[item]) for item, known in expected.items()), len(expected)


def decide(annotator: Annotator) -> None:
    """Write down whether the finished qualification reaches the campaign's pass mark."""
    right, total = right_answers(annotator, Purpose.QUALIFICATION)
    annotator.has_qualified = passes(right, total, annotator.campaign.pass_mark)
    annotator.save(update_fields=["has_qualified"])

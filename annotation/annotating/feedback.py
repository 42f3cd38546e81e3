"""Items whose answer is known (gold, training, qualification): was an answer right, and what was expected."""

from annotation.models import Campaign, Item, Purpose, Submission
from annotation.questions import registry, store
from annotation.questions.kind import Check


def checks(item: Item, rows: list, swapped: bool = False) -> list[Check]:
    """What `item.expected` says about an answer's rows, one Check for each row it speaks of. `swapped`: the pair's sides as
    they were shown."""
    asked = [registry.of_row(row).kind.checked(row, item.expected or {}, swapped) for row in rows]
    return [check for check in asked if check is not None]


def shows_known_answer(submission: Submission, campaign: Campaign) -> bool:
    """Does the person see the known answer right after theirs? Always in training; for a gold item if gold is loud and
    they missed it."""
    assignment = submission.assignment
    if submission.is_surplus or submission.retracted_at:
        return False
    if assignment.purpose == Purpose.TRAINING:
        return True
    if assignment.purpose != Purpose.GOLD or not campaign.gold_is_loud:
        return False
    return not all(check.is_right for check in checks(assignment.item, store.of_submission(submission)))

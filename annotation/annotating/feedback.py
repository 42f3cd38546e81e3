"""Items whose answer is known (gold, training, qualification): was an answer right, and what was expected."""

from dataclasses import dataclass

from django.utils.translation import gettext

from annotation.design.known_answer_check import wanted_choice, wanted_scores
from annotation.models import Campaign, Item, LikertScore, PairwiseJudgment, Purpose, Submission
from annotation.outcome import Outcome


@dataclass(frozen=True)
class Check:
    """One thing that was asked. what: the criterion's name, empty for the whole; given and expected in words."""

    what: str
    given: str
    expected: str
    is_right: bool


def checks(item: Item, rows: list, swapped: bool = False) -> list[Check]:
    """What `item.expected` says about an answer's rows (LikertScores or PairwiseJudgments), one Check for each row it
    speaks of. `swapped`: the pair's sides as they were shown, since A and B are written as the person saw them."""
    expected = item.expected or {}
    if item.is_pair:
        expectations = [(row, wanted_choice(expected, row.criterion.name if row.criterion else "")) for row in rows]
        return [_choice(row, wanted, swapped) for row, wanted in expectations if wanted]
    scores = [(row, wanted_scores(expected, row.criterion.name)) for row in rows]
    return [_score(row, wanted) for row, wanted in scores if wanted]


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
    return not all(check.is_right for check in checks(assignment.item, rows_of_submission(submission)))


def rows_of_submission(submission: Submission) -> list:
    model = PairwiseJudgment if submission.assignment.item.is_pair else LikertScore
    return list(model.objects.filter(submission=submission).select_related("criterion").order_by("criterion__position", "pk"))


def _score(row, values: list) -> Check:
    return Check(row.criterion.name, f"{row.value:g}", gettext(" or ").join(f"{v:g}" for v in values), row.value in values)


def _choice(row, wanted: str, swapped: bool) -> Check:
    what = row.criterion.name if row.criterion else ""
    return Check(what, _in_words(row.choice, swapped), _in_words(wanted, swapped), row.choice == wanted)


def _in_words(choice: str, swapped: bool) -> str:
    """A stored choice as the person saw the sides."""
    outcome = Outcome(choice).swap() if swapped else Outcome(choice)
    return {Outcome.A: gettext("A is better"), Outcome.TIE: gettext("Tie"), Outcome.B: gettext("B is better")}[outcome]

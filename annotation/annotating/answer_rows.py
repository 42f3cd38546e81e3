"""Turn an answer as the page sends it into database rows; Refused says what is missing or impossible."""

from typing import Any

from django.utils.translation import gettext

from annotation.models import Annotator, Assignment, Campaign, Criterion, LikertScore, PairwiseJudgment
from annotation.outcome import Outcome
from core.errors import Refused

OUTCOME_OF_SIDE = {"left": Outcome.A, "tie": Outcome.TIE, "right": Outcome.B}
REASON_LENGTH: int = PairwiseJudgment._meta.get_field("reason").max_length or 0


def rows_of(annotator: Annotator, assignment: Assignment, campaign: Campaign, answer: dict) -> list:
    """Unsaved LikertScores or PairwiseJudgments, one for each thing that was asked; never empty."""
    reason = str(answer.get("reason") or "").strip()
    if len(reason) > REASON_LENGTH:
        raise Refused(gettext("The comment is longer than %(count)s characters.") % {"count": REASON_LENGTH})
    if not assignment.item.is_pair:  # a comment on scores stays with the submission
        return _scores(annotator, assignment, campaign, answer.get("scores"))
    choices: dict[Any, Outcome]  # by criterion; None: on the whole
    if campaign.pairwise_by_criterion:
        choices = _choices_by_criterion(campaign, answer.get("choices"))
    else:
        choice = _shown(answer.get("choice"))
        if choice is None:
            raise Refused(gettext("Choose the better text, or a tie."))
        choices = {None: choice}
    return [_judgment(annotator, assignment, criterion, shown, reason) for criterion, shown in choices.items()]


def _scores(annotator, assignment, campaign, scores) -> list[LikertScore]:
    scores = scores if isinstance(scores, dict) else {}
    rows, missing = [], []
    for criterion in campaign.asked:
        value = scores.get(criterion.pk, scores.get(str(criterion.pk)))
        if value is None or value == "":
            missing.append(criterion.name)
            continue
        value = _point(criterion, value)
        rows.append(
            LikertScore(
                annotator=annotator,
                output_id=assignment.item.output_id,
                criterion=criterion,
                value=value,
                purpose=assignment.purpose,
            )
        )
    if missing:
        raise Refused(gettext("Please also score: %(criteria)s.") % {"criteria": ", ".join(missing)})
    if not rows:
        raise Refused(gettext("This campaign has no criteria yet."))
    return rows


def _point(criterion: Criterion, value) -> int:
    try:
        value = int(value)
    except (TypeError, ValueError):
        raise Refused(
            gettext("%(criterion)s: choose one of the points of its scale.") % {"criterion": criterion.name}
        ) from None
    if value not in criterion.points:
        about = {"criterion": criterion.name, "low": criterion.low, "high": criterion.high}
        raise Refused(gettext("%(criterion)s: choose a point from %(low)s to %(high)s.") % about)
    return value


def _choices_by_criterion(campaign: Campaign, sides) -> dict[Criterion, Outcome]:
    sides = sides if isinstance(sides, dict) else {}
    choices = {c: _shown(sides.get(c.pk, sides.get(str(c.pk)))) for c in campaign.asked}
    missing = [criterion.name for criterion, shown in choices.items() if shown is None]
    if missing:
        raise Refused(gettext("Please also judge: %(criteria)s.") % {"criteria": ", ".join(missing)})
    if not choices:
        raise Refused(gettext("This campaign has no criteria yet."))
    return {criterion: shown for criterion, shown in choices.items() if shown is not None}


def _shown(side) -> Outcome | None:
    return OUTCOME_OF_SIDE.get(side) if isinstance(side, str) else None


def _judgment(annotator, assignment, criterion, shown: Outcome, reason: str) -> PairwiseJudgment:
    choice = shown.swap() if assignment.swapped else shown
    return PairwiseJudgment(
        annotator=annotator,
        output_a_id=assignment.item.output_id,
        output_b_id=assignment.item.other_id,
        criterion=criterion,
        choice=choice.value,
        reason=reason,
        shown_swapped=assignment.swapped,
        purpose=assignment.purpose,
    )

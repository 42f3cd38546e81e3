"""What each question asks for, one truth or taste: its kind says, and a researcher may say otherwise, with a reason."""

from dataclasses import dataclass

from django.db import transaction

from annotation.models import AskedFor, AuditEvent, Campaign, User
from annotation.quality.verdict import Asks
from annotation.questions import registry
from annotation.questions.kind import Question
from core.errors import Refused, quoted

WORDS = {Asks.TRUTH: "one truth", Asks.TASTE: "taste"}


@dataclass(frozen=True)
class Aim:
    """reason: why a researcher said so; empty: its kind says."""

    asks: Asks
    reason: str = ""


def aims(campaign: Campaign, questions: list[Question]) -> dict[str, Aim]:
    """{name of the question: what it asks for}"""
    chosen = {(row.criterion_id, row.on_pairs): Aim(Asks(row.asks), row.reason) for row in campaign.asked_for.all()}
    return {q.name: chosen.get(_key(q), Aim(q.kind.asks)) for q in questions}


def _key(question: Question) -> tuple[int | None, bool]:
    return question.key, question.on_pairs and question.criterion is not None


def question_named(campaign: Campaign, name: str) -> Question:
    """By the name that verdicts have: a criterion, Pairs, or CRITERION (pairs)."""
    questions = registry.all_questions(campaign)
    found = next((q for q in questions if q.name.casefold() == name.strip().casefold()), None)
    if found is None:
        raise Refused(f"There is no question {quoted(name)}; there are: {', '.join(q.name for q in questions)}.")
    return found


@transaction.atomic
def set_aim(campaign: Campaign, question: Question, asks: str, user: User | None, reason: str) -> None:
    """Say what a question asks for, for assessments to come; snapshots that are there keep their verdicts."""
    if asks not in list(Asks):
        raise Refused(f"A question asks for {' or '.join(Asks)}, not {quoted(asks)}.")
    if not reason.strip():
        raise Refused("Give a reason. It is stored with what the question asks for.")
    _, on_pairs = _key(question)
    AskedFor.objects.update_or_create(
        campaign=campaign,
        criterion=question.criterion,
        on_pairs=on_pairs,
        defaults={"asks": asks, "reason": reason.strip()[:500], "chosen_by": user},
    )
    detail = {"question": question.name, "asks": asks, "reason": reason.strip()}
    AuditEvent.objects.create(campaign=campaign, user=user, action="question asks for", detail=detail)

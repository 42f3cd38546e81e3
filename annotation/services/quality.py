"""What researchers decide about quality."""

from django.db import transaction
from django.utils import timezone

from annotation.errors import Refused
from annotation.models import (
    AuditEvent,
    QualityDecision,
    User,
)


@transaction.atomic
def overrule(decision: QualityDecision, user: User | None, reason: str) -> None:
    """Accept a criterion below the line, with a reason that is kept."""
    if not reason.strip():
        raise Refused("Say why: the reason is kept beside the decision.")
    decision.overruled_by, decision.overruled_at, decision.overrule_reason = user, timezone.now(), reason.strip()
    decision.save(update_fields=["overruled_by", "overruled_at", "overrule_reason"])
    AuditEvent.objects.create(
        campaign=decision.snapshot.campaign, user=user, action="quality decision overruled",
        detail={"snapshot": decision.snapshot.name, "criterion": str(decision.criterion or "pairwise"), "reason": reason},
    )  # fmt: skip

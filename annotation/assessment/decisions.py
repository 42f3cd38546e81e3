"""What researchers decide about quality."""

from django.db import transaction
from django.utils import timezone

from annotation.models import AuditEvent, Campaign, QualityDecision, SnapshotMark, User
from annotation.snapshots import holds
from core.errors import Refused


@transaction.atomic
def overrule(decision: QualityDecision, user: User | None, reason: str) -> None:
    """Accept a criterion below the line, with a reason that is kept."""
    if not reason.strip():
        raise Refused("Give a reason. It is stored with the decision.")
    decision.overruled_by, decision.overruled_at, decision.overrule_reason = user, timezone.now(), reason.strip()
    decision.save(update_fields=["overruled_by", "overruled_at", "overrule_reason"])
    AuditEvent.objects.create(
        campaign=decision.snapshot.campaign,
        user=user,
        action="quality decision overruled",
        detail={"snapshot": decision.snapshot.name, "criterion": str(decision.criterion or "pairwise"), "reason": reason},
    )


def mark_replaced(campaign: Campaign, system: str, names: set[str]) -> None:
    """Mark the snapshots that hold outputs of a system, which had these names, as its outputs are replaced now."""
    for snapshot in campaign.snapshots.all():
        if holds(snapshot, "system", names):
            reason = f"Outputs of {system} were replaced after it was frozen."
            SnapshotMark.objects.get_or_create(snapshot=snapshot, reason=reason[:300])

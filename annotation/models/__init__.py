"""What people say about outputs. One file per family of nouns; Django wants them all importable from here."""

from annotation.models.campaign import Assignment, Campaign, Criterion, Invitation, Item
from annotation.models.corpus import Checkpoint, Context, Output, Reference, System
from annotation.models.job import AuditEvent, Job, WorkerPulse
from annotation.models.judgment import (
    LikertScore,
    PairwiseJudgment,
    QualityDecision,
    Snapshot,
    Submission,
)
from annotation.models.people import Annotator, Membership, User

__all__ = [
    "Annotator", "Assignment", "AuditEvent", "Campaign", "Checkpoint", "Context", "Criterion", "Invitation", "Item",
    "Job", "LikertScore", "Membership", "Output", "PairwiseJudgment", "QualityDecision", "Reference", "Snapshot",
    "Submission", "System", "User", "WorkerPulse",
]  # fmt: skip

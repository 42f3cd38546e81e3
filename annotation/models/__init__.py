"""What people say about outputs. One file per family of nouns; Django wants them all importable from here."""

from annotation.models.campaign import Assignment, Campaign, ConsentText, Criterion, Invitation, Item, ItemReport, Purpose
from annotation.models.corpus import Checkpoint, Context, FormerName, Output, Reference, System
from annotation.models.job import AuditEvent, Heartbeat, Job, JobPart, WorkerPulse
from annotation.models.judgment import (
    FrozenAnswers,
    LikertScore,
    PairwiseJudgment,
    QualityDecision,
    Snapshot,
    SnapshotMark,
    Submission,
)
from annotation.models.people import Annotator, ApiToken, KeptResponse, Membership, Scope, User
from annotation.models.quality import Adjudication, AskedFor, Calculation, DatasheetAnswer
from annotation.models.upload import Upload

__all__ = [
    "Adjudication",
    "Annotator",
    "ApiToken",
    "AskedFor",
    "Assignment",
    "AuditEvent",
    "Calculation",
    "Campaign",
    "Checkpoint",
    "ConsentText",
    "Context",
    "Criterion",
    "DatasheetAnswer",
    "FormerName",
    "FrozenAnswers",
    "Invitation",
    "Heartbeat",
    "Item",
    "ItemReport",
    "Job",
    "JobPart",
    "KeptResponse",
    "LikertScore",
    "Membership",
    "Output",
    "PairwiseJudgment",
    "Purpose",
    "QualityDecision",
    "Reference",
    "Scope",
    "Snapshot",
    "SnapshotMark",
    "Submission",
    "System",
    "Upload",
    "User",
    "WorkerPulse",
]

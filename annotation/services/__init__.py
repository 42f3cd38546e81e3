"""Everything that changes a campaign, one function per thing a person does, each in one transaction."""

from annotation.errors import ImportRefused, Refused
from annotation.services.answers import submit, undo_last
from annotation.services.campaigns import CriterionSpec, add_researcher, create_campaign, set_guidelines, set_status
from annotation.services.people import add_annotator, invite, join, join_as_guest
from annotation.services.quality import overrule

__all__ = ["CriterionSpec", "ImportRefused", "Refused", "add_annotator", "add_researcher", "create_campaign", "invite",
           "join", "join_as_guest", "overrule", "set_guidelines", "set_status", "submit", "undo_last"]  # fmt: skip

"""Everything that changes a campaign, one function per thing a person does, each in one transaction."""

from annotation.annotating.consent import agree, consent_due, withdraw
from annotation.annotating.reports import flag, skip
from annotation.annotating.submissions import revise, submit, submit_and_go_on
from annotation.annotating.undo import undo_last
from annotation.assessment.adjudication import adjudicate
from annotation.assessment.decisions import mark_replaced, overrule
from annotation.campaigns.known_answers import mark_known, resolve, unmark_known
from annotation.campaigns.lifecycle import (
           add_researcher,
           create_campaign,
           delete_campaign,
           duplicate_campaign,
           remove_researcher,
           restore_campaign,
           set_guidelines,
           set_status,
)
from annotation.campaigns.protocol import CriterionSpec, change_campaign
from annotation.campaigns.study import design_study
from annotation.people.invitations import add_account, add_annotator, invite, join, join_as_guest, join_with_account, revoke
from annotation.people.tokens import make_token
from core.errors import ImportRefused, Refused

__all__ = ["CriterionSpec", "ImportRefused", "Refused", "add_account", "add_annotator", "add_researcher",
           "adjudicate", "agree", "change_campaign", "consent_due", "create_campaign", "delete_campaign",
           "design_study", "duplicate_campaign", "flag", "invite", "join", "join_as_guest", "join_with_account",
           "make_token", "mark_known", "mark_replaced", "overrule", "remove_researcher", "resolve",
           "restore_campaign", "revise", "revoke", "set_guidelines", "set_status", "skip", "submit",
           "submit_and_go_on", "undo_last", "unmark_known", "withdraw"]  # fmt: skip

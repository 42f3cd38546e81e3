"""What researchers fill in. A form checks shape; the services decide."""

from annotation.forms.campaigns import (
    CampaignForm,
    CriterionFormSet,
    DuplicateForm,
    GuidelinesForm,
    NewCampaignForm,
    criteria_formset,
    filled_rows,
)
from annotation.forms.data import ImportForm
from annotation.forms.items import KnownAnswerForm
from annotation.forms.people import AccountForm, GuestForm, InvitationForm, OwnAccountForm, ResearcherForm
from annotation.forms.quality import AssessForm, OverruleForm

__all__ = ["AccountForm", "AssessForm", "CampaignForm", "CriterionFormSet", "DuplicateForm", "GuestForm", "GuidelinesForm",
           "ImportForm", "InvitationForm", "KnownAnswerForm", "NewCampaignForm", "OverruleForm", "OwnAccountForm",
           "ResearcherForm", "criteria_formset", "filled_rows"]  # fmt: skip

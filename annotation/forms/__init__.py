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
from annotation.forms.data import ColumnsForm, UploadForm
from annotation.forms.items import KnownAnswerForm
from annotation.forms.people import AccountForm, GuestForm, InvitationForm, OwnAccountForm, ResearcherForm
from annotation.forms.plan import PlanForm
from annotation.forms.quality import AdjudicationForm, AssessForm, OverruleForm, StudyForm

__all__ = ["AccountForm", "AdjudicationForm", "AssessForm", "CampaignForm", "ColumnsForm", "CriterionFormSet",
           "DuplicateForm", "GuestForm", "GuidelinesForm", "InvitationForm", "KnownAnswerForm", "NewCampaignForm",
           "OverruleForm", "OwnAccountForm", "PlanForm", "ResearcherForm", "StudyForm", "UploadForm", "criteria_formset",
           "filled_rows"]  # fmt: skip

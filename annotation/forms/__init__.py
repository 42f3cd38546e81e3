"""What researchers fill in. A form checks shape; the services decide."""

from annotation.forms.campaigns import CampaignForm, CriterionFormSet, GuidelinesForm, filled_rows
from annotation.forms.data import ImportForm
from annotation.forms.people import GuestForm, InvitationForm, ResearcherForm
from annotation.forms.quality import AssessForm, OverruleForm

__all__ = ["AssessForm", "CampaignForm", "CriterionFormSet", "GuestForm", "GuidelinesForm", "ImportForm", "InvitationForm",
           "OverruleForm", "ResearcherForm", "filled_rows"]  # fmt: skip

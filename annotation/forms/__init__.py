"""What researchers fill in. A form checks shape; the services decide."""

from annotation.forms.assessment import AdjudicationForm, AimForm, AssessForm, OverruleForm, StudyForm
from annotation.forms.campaigns import (
    CampaignForm,
    DuplicateForm,
    GuidelinesForm,
    NewCampaignForm,
    as_typed,
    criteria_formset,
    filled_rows,
    rows_of,
)
from annotation.forms.data import ColumnsForm, UploadForm
from annotation.forms.datasheet import DatasheetForm
from annotation.forms.known_answers import KnownAnswerForm
from annotation.forms.people import (
    AccountForm,
    FirstAdminForm,
    GuestForm,
    InvitationForm,
    MailedInvitationForm,
    NewAccountForm,
    OwnAccountForm,
    ResearcherForm,
    RightsForm,
)
from annotation.forms.plan import PlanForm

__all__ = [
    "AccountForm",
    "AdjudicationForm",
    "AimForm",
    "AssessForm",
    "CampaignForm",
    "ColumnsForm",
    "DatasheetForm",
    "DuplicateForm",
    "FirstAdminForm",
    "GuestForm",
    "GuidelinesForm",
    "InvitationForm",
    "KnownAnswerForm",
    "MailedInvitationForm",
    "NewAccountForm",
    "NewCampaignForm",
    "OverruleForm",
    "OwnAccountForm",
    "PlanForm",
    "ResearcherForm",
    "RightsForm",
    "StudyForm",
    "UploadForm",
    "as_typed",
    "criteria_formset",
    "filled_rows",
    "rows_of",
]

"""Who is let in, and as whom."""

import copy

from django import forms
from django.conf import settings
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext_lazy

from annotation.models import User
from annotation.people.first_admin import is_code


class InvitationForm(forms.Form):
    label = forms.CharField(
        max_length=100, required=False, label="Label", help_text="For your own use, for example: Prolific, pilot."
    )
    cap = forms.IntegerField(
        min_value=1, required=False, label="Maximum number of people", help_text="1: a personal link. Empty: no limit."
    )


class MailedInvitationForm(InvitationForm):
    email = forms.EmailField(
        max_length=150, required=False, label="Send it to this e-mail address", help_text="Empty: you send the link yourself."
    )


class ResearcherForm(forms.Form):
    username = forms.CharField(max_length=150, label="Log-in name of an existing account")


class AccountForm(forms.Form):
    email = forms.EmailField(max_length=150, label="E-mail address", help_text="It is the log-in name.")
    name = forms.CharField(max_length=60, required=False, label="Name or pseudonym")


class NewAccountForm(AccountForm):
    may_create_campaigns = forms.BooleanField(required=False, label="May create campaigns")


class RightsForm(forms.ModelForm):
    """What an account may do."""

    is_admin = forms.BooleanField(
        required=False, label="Admin", help_text="Sees all campaigns and these pages, and changes accounts."
    )
    may_create_campaigns = forms.BooleanField(required=False, label="May create campaigns")
    is_active = forms.BooleanField(
        required=False, label="May sign in", help_text="Without it, sessions and tokens stop at once. Answers stay as they are."
    )

    class Meta:
        model = User
        fields = ["may_create_campaigns", "is_active", "oidc_subject"]
        labels = {"oidc_subject": "Identity at the sign-in provider"}

    field_order = ["is_admin", "may_create_campaigns", "is_active"]

    def __init__(self, data, instance: User):
        super().__init__(data, instance=copy.copy(instance), initial={"is_admin": instance.is_staff})
        if not settings.OIDC_ISSUER:
            del self.fields["oidc_subject"]


class GuestForm(forms.Form):
    name = forms.CharField(
        max_length=60,
        label=gettext_lazy("Your name or a pseudonym"),
        help_text=gettext_lazy("The researchers of this campaign see it."),
    )


class OwnAccountForm(forms.Form):
    """An invited person's own account."""

    email = forms.EmailField(
        max_length=150,
        label=gettext_lazy("E-mail address"),
        help_text=gettext_lazy("It is your user name. No e-mail is sent to it."),
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    password = forms.CharField(
        max_length=128,
        label=gettext_lazy("Password"),
        help_text=gettext_lazy("At least 8 characters."),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean(self):
        data = super().clean()
        email, name = data.get("email", ""), data.get("name", "")
        if data.get("password"):
            try:
                validate_password(data["password"], User(username=email, email=email, first_name=name))
            except forms.ValidationError as weak:
                self.add_error("password", weak)
        return data


class FirstAdminForm(BaseUserCreationForm):
    """The account of the first admin; whoever does not sit at the machine gives the code of its terminal, too."""

    code = forms.CharField(
        max_length=100,
        label="Code",
        help_text="The terminal in which the server was started shows it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    field_order = ["code", "username"]

    class Meta(BaseUserCreationForm.Meta):
        model = User
        help_texts = {"username": "You sign in with it: letters, digits and @ . + - _ only."}

    def __init__(self, *args, asks_code: bool, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["password2"].help_text = ""
        if not asks_code:
            del self.fields["code"]

    def clean_code(self):
        if not is_code(self.cleaned_data["code"]):
            raise forms.ValidationError("This is not the code that the terminal shows.")
        return ""

"""Who is let in, and as whom."""

from django import forms


class InvitationForm(forms.Form):
    cap = forms.IntegerField(
        min_value=1, required=False, label="People it admits at most", help_text="Empty: no limit."
    )


class ResearcherForm(forms.Form):
    username = forms.CharField(max_length=150, label="Log-in name of an existing account")


class GuestForm(forms.Form):
    name = forms.CharField(
        max_length=60, label="Your name or a pseudonym", help_text="The researchers of this campaign see it."
    )

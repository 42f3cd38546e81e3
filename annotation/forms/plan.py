"""What a plan is worked out from."""

from typing import Any

from django import forms

PROTOCOL = ("systems", "contexts", "overlap", "overlap_percent", "quota", "annotators")


class PlanForm(forms.Form):
    """Nothing here is saved: a plan answers what would be if."""

    systems = forms.IntegerField(min_value=2, max_value=1000)
    contexts = forms.IntegerField(min_value=1, max_value=1_000_000, help_text="Each context has an output of every system.")
    overlap = forms.IntegerField(min_value=1, max_value=1000, label="People per item")
    overlap_percent = forms.IntegerField(min_value=0, max_value=100, label="Share of items with that many, %")
    quota = forms.IntegerField(min_value=1, max_value=1_000_000, required=False, label="Items per person at most")
    annotators = forms.IntegerField(
        min_value=1, max_value=100_000, required=False, label="Annotators", help_text="Empty: the minimum number."
    )
    seconds_per_score = forms.FloatField(min_value=0.1, max_value=3600, label="Seconds for an output's scores")
    seconds_per_pair = forms.FloatField(min_value=0.1, max_value=3600, label="Seconds for a pair")
    pilot = forms.ChoiceField(
        required=False, label="Pilot", help_text="A campaign whose answers are used to estimate the variances."
    )

    def __init__(self, *args, pilots, **kwargs):
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["pilot"].choices = [("", "none: use assumed variances"), *((c.slug, c.title) for c in pilots)]

    def protocol(self) -> dict:
        return {name: self.cleaned_data[name] for name in PROTOCOL}

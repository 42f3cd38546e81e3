"""How agreement is assessed."""

from django import forms


class AssessForm(forms.Form):
    mad = forms.FloatField(
        min_value=0.1,
        max_value=10,
        initial=1.0,
        label="MAD threshold",
        help_text="A score further than this many MADs from its output's median is left out.",
    )
    level = forms.ChoiceField(
        choices=[(level, level) for level in ("ordinal", "interval", "nominal", "ratio")], label="Level of measurement"
    )
    on_zero_mad = forms.ChoiceField(
        choices=[("drop", "leave out all off the median"), ("keep", "keep all")],
        label="Where the MAD is 0",
        help_text="There, at least half of an output's scores are the same.",
    )


class OverruleForm(forms.Form):
    reason = forms.CharField(max_length=1000, widget=forms.Textarea(attrs={"rows": 2}))


class AdjudicationForm(forms.Form):
    """key: what is settled, as disagreement.Disagreement.key names it."""

    key = forms.RegexField(r"^\d+-\d+-\d+$", error_messages={"invalid": "This names nothing to settle; load the page again."})
    believed = forms.CharField(required=False, max_length=20)
    reason = forms.CharField(max_length=500, error_messages={"required": "Say why: the reason is kept with what you decide."})

    def clean_key(self) -> tuple[int | None, int, int | None]:
        criterion, output, other = map(int, self.cleaned_data["key"].split("-"))
        return criterion or None, output, other or None


class StudyForm(forms.Form):
    outputs = forms.IntegerField(
        min_value=2,
        max_value=1000,
        initial=20,
        label="Outputs",
        help_text="Each is scored, and compared with four others of its context.",
    )

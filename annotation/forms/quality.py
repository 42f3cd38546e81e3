"""How agreement is assessed."""

from django import forms


class AssessForm(forms.Form):
    mad = forms.FloatField(
        min_value=0.1, max_value=10, initial=1.0, label="MAD threshold",
        help_text="A score further than this many MADs from its output's median is left out.",
    )  # fmt: skip
    level = forms.ChoiceField(
        choices=[(level, level) for level in ("ordinal", "interval", "nominal", "ratio")], label="Level of measurement"
    )
    on_zero_mad = forms.ChoiceField(
        choices=[("drop", "leave out all off the median"), ("keep", "keep all")],
        label="Where the MAD is 0", help_text="There, at least half of an output's scores are the same.",
    )


class OverruleForm(forms.Form):
    reason = forms.CharField(max_length=1000, widget=forms.Textarea(attrs={"rows": 2}))

"""How agreement is assessed."""

from django import forms


class AssessForm(forms.Form):
    mad = forms.FloatField(
        required=False,
        min_value=0.1,
        max_value=10,
        initial=1.0,
        label="MAD threshold",
        help_text="MAD is the median absolute deviation. A score that is more than this many MADs away from its output's"
        " median is dropped. Leave it empty for no filter. Scales with two points are never filtered. People's board reads"
        " all answers, dropped ones too; a comparator learns from those that are kept.",
    )
    level = forms.ChoiceField(
        choices=[(level, level) for level in ("ordinal", "interval", "nominal", "ratio")], label="Level of measurement"
    )
    on_zero_mad = forms.ChoiceField(
        choices=[("drop", "drop all scores off the median"), ("keep", "keep all scores")],
        label="If the MAD is 0",
        help_text="Then at least half of the output's scores are equal.",
    )
    verdict = forms.ChoiceField(
        required=False,
        choices=[("", "what fits each question"), ("zhao-2020", "as Zhao et al. (2020)")],
        help_text="By agreement where a question has one truth, by reliability where it asks for taste. Zhao et al. looked at"
        " alpha after the filter alone, which accepts more: the filter deletes disagreement.",
    )


class OverruleForm(forms.Form):
    reason = forms.CharField(max_length=1000, widget=forms.Textarea(attrs={"rows": 2}))


class AimForm(forms.Form):
    """question: as a verdict names it."""

    question = forms.CharField(max_length=120)
    asks = forms.ChoiceField(choices=[("truth", "one truth"), ("taste", "taste")])
    reason = forms.CharField(max_length=500, widget=forms.Textarea(attrs={"rows": 2}))


class AdjudicationForm(forms.Form):
    """key: what is settled, as disagreement.Disagreement.key names it."""

    key = forms.RegexField(
        r"^\d+-\d+-\d+$", error_messages={"invalid": "This item has nothing to decide; load the page again."}
    )
    believed = forms.CharField(required=False, max_length=20)
    reason = forms.CharField(max_length=500, error_messages={"required": "Give a reason. It is stored with your decision."})

    def clean_key(self) -> tuple[int | None, int, int | None]:
        criterion, output, other = map(int, self.cleaned_data["key"].split("-"))
        return criterion or None, output, other or None


class StudyForm(forms.Form):
    outputs = forms.IntegerField(
        min_value=2,
        max_value=1000,
        initial=20,
        label="Outputs",
        help_text="Each output is scored and compared with four others of its context.",
    )

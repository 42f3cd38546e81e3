"""What researchers fill in. A form checks shape; the services decide."""

from django import forms
from django.forms import formset_factory
from django.utils.text import slugify

from annotation.services import CriterionSpec

CRITERIA_ROWS = 6


class CampaignForm(forms.Form):
    title = forms.CharField(max_length=200)
    slug = forms.SlugField(
        max_length=80, required=False, label="Short name",
        help_text="In addresses and commands. Left empty, it is made from the title.",
    )  # fmt: skip
    likert = forms.BooleanField(required=False, initial=True, label="Score single outputs on the criteria below")
    pairwise = forms.BooleanField(required=False, label="Judge pairs: A, tie or B")
    overlap = forms.IntegerField(
        min_value=1, max_value=100, initial=3, label="People per item",
        help_text="How many people judge each item. Agreement can only be measured from two on.",
    )  # fmt: skip
    guidelines = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 10}),
        help_text="Markdown. Annotators read this before they start and can open it at any time.",
    )  # fmt: skip

    def clean(self):
        data = super().clean()
        if not data.get("slug") and data.get("title"):
            data["slug"] = slugify(data["title"])[:80]
            if not data["slug"]:
                self.add_error("slug", "This title makes no short name; please give one in Latin letters.")
        if not (data.get("likert") or data.get("pairwise")):
            self.add_error(None, "Choose scores, pairs, or both: otherwise there is nothing to judge.")
        return data


class CriterionForm(forms.Form):
    name = forms.CharField(max_length=100, required=False)
    low = forms.IntegerField(initial=1, required=False, label="Lowest")
    high = forms.IntegerField(initial=5, required=False, label="Highest")
    low_label = forms.CharField(max_length=60, required=False, label="Lowest means")
    high_label = forms.CharField(max_length=60, required=False, label="Highest means")
    description = forms.CharField(max_length=300, required=False, label="The question behind it")

    def clean(self):
        data = super().clean()
        if not data.get("name"):
            if any(data.get(field) for field in ("low_label", "high_label", "description")):
                self.add_error("name", "This criterion needs a name.")
            return data
        low, high = data.get("low"), data.get("high")
        if low is None or high is None:
            self.add_error(None, "The scale needs two whole numbers as its ends.")
        elif low >= high:
            self.add_error(None, "The highest point of the scale must be above the lowest.")
        return data


CriterionFormSet = formset_factory(CriterionForm, extra=CRITERIA_ROWS, max_num=CRITERIA_ROWS)


def filled_rows(formset) -> list[CriterionSpec]:
    rows = [form.cleaned_data for form in formset if form.cleaned_data.get("name")]
    return [CriterionSpec(**row) for row in rows]


class ImportForm(forms.Form):
    KINDS = [
        ("outputs", "Outputs: what the systems wrote"),
        ("scores", "Scores: people's Likert answers on outputs already here"),
        ("judgments", "Judgments: people's A / tie / B on pairs"),
    ]
    file = forms.FileField(label="File", help_text="JSON lines or CSV, UTF-8.", allow_empty_file=True)
    kind = forms.ChoiceField(choices=KINDS, label="What it holds")
    human_systems = forms.CharField(
        required=False, label="Human-written systems", widget=forms.Textarea(attrs={"rows": 2}),
        help_text="For outputs: names of systems whose texts people wrote, one a line.",
    )  # fmt: skip
    dry_run = forms.BooleanField(required=False, label="Only check; store nothing")

    def clean_human_systems(self):
        return [line.strip() for line in self.cleaned_data["human_systems"].splitlines() if line.strip()]


class GuidelinesForm(forms.Form):
    guidelines = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 16}), help_text="Markdown."
    )  # fmt: skip


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

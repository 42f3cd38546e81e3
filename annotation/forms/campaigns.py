"""How a campaign is designed."""

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


class GuidelinesForm(forms.Form):
    guidelines = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 16}), help_text="Markdown."
    )  # fmt: skip

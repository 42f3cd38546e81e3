"""How a campaign is designed."""

from django import forms
from django.forms import formset_factory
from django.utils.text import slugify

from annotation.campaigns.protocol import CriterionSpec
from annotation.models import Campaign

CRITERIA_ROWS = 50
SECTIONS = [
    ("What is asked", "", ["likert", "pairwise", "pairwise_by_criterion", "asks_reason"]),
    ("How many judge", "", ["overlap", "overlap_percent", "quota"]),
    ("How texts are shown", "", ["text_format"]),
    ("Pairs and order", "", ["pair_design", "pairs", "in_file_order", "seed"]),
    (
        "Checks on the way",
        "Items with a known answer are imported or marked among the items; see Import.",
        ["gold_percent", "gold_is_loud", "repeat_percent", "pass_mark"],
    ),
    ("When somebody is done", "", ["completion_code", "completion_url"]),
    ("What others see", "", ["board_is_public", "plays_new_comparators"]),
]
LABELS = {
    "likert": "Score single outputs on the criteria below",
    "pairwise": "Judge pairs: A, tie or B",
    "pairwise_by_criterion": "Judge pairs on each criterion, not only on the whole",
    "asks_reason": "Ask for a short comment with each item (never required)",
    "text_format": "Outputs and contexts are shown",
    "overlap": "People per item",
    "overlap_percent": "Share of items for that many people, %",
    "quota": "Items per person at most",
    "pair_design": "Which pairs",
    "pairs": "Number of pairs",
    "in_file_order": "Hand items out in the order of the file",
    "seed": "Seed",
    "gold_percent": "Items with a known answer, %",
    "gold_is_loud": "Tell people at once when they miss one",
    "repeat_percent": "Pairs shown again with the sides swapped, %",
    "pass_mark": "Pass mark of the qualification, %",
    "completion_code": "Completion code",
    "completion_url": "Completion address",
    "board_is_public": "Anyone may read the leaderboard",
    "plays_new_comparators": "A newly trained comparator plays a tournament at once",
}
HELP = {
    "text_format": "Bold words, lists, tables, code and formulas are shown as such, or as the characters they are written in. "
    "Exports, metrics and comparators always have the texts as they were imported.",
    "overlap": "Agreement can only be measured from two on.",
    "overlap_percent": "The other items go to one person each.",
    "quota": "Empty: no limit.",
    "pairs": "Only where a number is drawn.",
    "seed": "Draws the order and the sides; the same seed draws the same again.",
    "gold_percent": "Of a person's items.",
    "repeat_percent": "Of a person's pairs: does the answer survive a change of sides?",
    "pass_mark": "Empty: nobody is turned away.",
    "completion_code": "Shown when a person's work is done, and not before.",
    "completion_url": "Where crowd workers go back to, for instance https://app.prolific.com/submissions/complete?cc=…",
}


class CampaignForm(forms.ModelForm):
    """The whole design but its criteria, in SECTIONS. `fixed` names what answers hold in place."""

    consent = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        label="Consent text",
        help_text="Markdown. Annotators agree to it before they start. A change makes a new version. Empty: nobody is asked.",
    )
    completion_url = forms.URLField(
        required=False, label=LABELS["completion_url"], help_text=HELP["completion_url"], assume_scheme="https"
    )

    class Meta:
        model = Campaign
        fields = ["title", "guidelines", *(name for _, _, names in SECTIONS for name in names)]
        labels = LABELS
        help_texts = (
            {name: "" for _, _, names in SECTIONS for name in names}
            | HELP
            | {"guidelines": "Markdown. Annotators read this before they start and can open it at any time."}
        )
        widgets = {"guidelines": forms.Textarea(attrs={"rows": 10})}

    def __init__(self, *args, fixed=(), **kwargs):
        super().__init__(*args, **kwargs)
        self.fixed = " ".join(sorted(fixed))
        self.fields["text_format"].required = False
        for name in fixed:
            self.fields[name].disabled = True

    def sections(self) -> list[dict]:
        """Each part of the design with its fields; a part nobody touched stays folded."""
        return [
            {
                "title": title,
                "about": about,
                "fields": [self[name] for name in names],
                "open": any(self[name].errors or self[name].value() != self.fields[name].initial for name in names),
            }
            for title, about, names in SECTIONS
        ]

    def clean_text_format(self) -> str:
        return self.cleaned_data["text_format"] or self.instance.text_format

    def clean(self):
        data = super().clean()
        if not (data.get("likert") or data.get("pairwise")):
            self.add_error(None, "Choose scores, pairs, or both: otherwise there is nothing to judge.")
        if self.data.get("fixed", "") != self.fixed:  # a field that is fixed now was still free when the page was shown
            self.add_error(None, "The first answers came in meanwhile. See what can still change, and save again.")
        return data


class SlugMixin(forms.Form):
    """A short name, made from the title where it was left empty."""

    slug = forms.SlugField(
        max_length=80,
        required=False,
        label="Short name",
        help_text="In addresses and commands. Left empty, it is made from the title. It can't change later.",
    )

    def clean(self):
        data = super().clean()
        if not data.get("slug") and data.get("title") and "slug" not in self.errors:
            data["slug"] = slugify(data["title"])[:80]
            if not data["slug"]:
                self.add_error("slug", "This title makes no short name; please give one in Latin letters.")
        return data


class NewCampaignForm(SlugMixin, CampaignForm):
    pass


class DuplicateForm(SlugMixin):
    title = forms.CharField(max_length=200)
    with_texts = forms.BooleanField(required=False, initial=True, label="With its outputs and known answers")


class CriterionForm(forms.Form):
    pk = forms.IntegerField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(max_length=100, required=False)
    low = forms.IntegerField(initial=1, required=False, label="Lowest")
    high = forms.IntegerField(initial=5, required=False, label="Highest")
    low_label = forms.CharField(max_length=60, required=False, label="Lowest means")
    high_label = forms.CharField(max_length=60, required=False, label="Highest means")
    description = forms.CharField(max_length=300, required=False, label="The question behind it")
    anchors = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="What each point means",
        help_text="One a line, for instance: 3 would do",
    )
    remove = forms.BooleanField(required=False, label="Remove this criterion")

    def clean_anchors(self) -> dict[str, str]:
        anchors = {}
        for line in filter(None, map(str.strip, self.cleaned_data["anchors"].splitlines())):
            point, _, meaning = line.partition(" ")
            point, meaning = point.rstrip(":.="), meaning.lstrip("=:- ").strip()
            if not point.removeprefix("-").isdecimal() or len(point) > 5 or not meaning:
                raise forms.ValidationError(f"“{line}”: begin with a point of the scale, then say what it means.")
            if str(int(point)) in anchors:
                raise forms.ValidationError(f"The point {point} stands here twice.")
            if len(meaning) > 200:
                raise forms.ValidationError(f"The meaning of {point} is longer than 200 characters.")
            anchors[str(int(point))] = meaning
        return anchors

    def clean(self):
        data = super().clean()
        if data.get("remove"):
            return data
        if not data.get("name"):
            if any(data.get(field) for field in ("low_label", "high_label", "description", "anchors")):
                self.add_error("name", "This criterion needs a name.")
            return data
        low, high = data.get("low"), data.get("high")
        if low is None or high is None:
            self.add_error(None, "The scale needs two whole numbers as its ends.")
        elif low >= high:
            self.add_error(None, "The highest point of the scale must be above the lowest.")
        elif strange := [point for point in data.get("anchors") or () if not low <= int(point) <= high]:
            self.add_error("anchors", f"{strange[0]} is no point of this scale.")
        return data


def criteria_formset(data=None, rows=()):
    """The rows of criteria: as sent, or `rows` (what `rows_of` or `as_typed` gives) and an empty one where there is none."""
    extra = 0 if rows or data else 1
    formset = formset_factory(CriterionForm, extra=extra, max_num=CRITERIA_ROWS, validate_max=True)
    return formset(data, initial=rows, prefix="criteria")


def rows_of(criteria) -> list[dict]:
    """Criteria, or specifications of criteria, as the rows show them."""
    names = ("pk", "name", "low", "high", "low_label", "high_label", "description")
    return [
        {
            **{name: getattr(c, name) for name in names},
            "anchors": "\n".join(f"{point} {meaning}" for point, meaning in sorted(c.anchors.items(), key=lambda a: int(a[0]))),
        }
        for c in criteria
    ]


def as_typed(form) -> dict:
    """What somebody has typed into a form that was sent, to be shown again unchecked."""
    return {name: form[name].value() for name in form.fields}


def filled_rows(formset) -> list[CriterionSpec]:
    rows = [dict(form.cleaned_data) for form in formset if form.cleaned_data.get("name")]
    return [CriterionSpec(**row) for row in rows if not row.pop("remove")]


class GuidelinesForm(forms.Form):
    guidelines = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 16}), help_text="Markdown.")

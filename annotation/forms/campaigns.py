"""How a campaign is designed."""

from django import forms
from django.forms import formset_factory
from django.utils.text import slugify

from annotation.campaigns.protocol import CriterionSpec
from annotation.models import Campaign

CRITERIA_ROWS = 50
SECTIONS = [
    ("What to judge", "", ["likert", "pairwise", "pairwise_by_criterion", "asks_reason"]),
    ("Number of judgments", "", ["overlap", "overlap_percent", "quota"]),
    ("Text format", "", ["text_format"]),
    ("Pairs and order", "", ["pair_design", "pairs", "in_file_order", "seed"]),
    (
        "Quality checks",
        "Import items with known answers, or mark items under Progress, Items.",
        ["gold_percent", "gold_is_loud", "repeat_percent", "pass_mark"],
    ),
    ("Completion", "", ["completion_code", "completion_url"]),
    ("Publication", "", ["board_is_public", "plays_new_comparators"]),
]
LABELS = {
    "likert": "Score single outputs on the criteria below",
    "pairwise": "Judge pairs: A, tie or B",
    "pairwise_by_criterion": "Judge pairs on each criterion, not only overall",
    "asks_reason": "Ask for a short comment with each item (never required)",
    "text_format": "Outputs and contexts are shown",
    "overlap": "People per item",
    "overlap_percent": "Share of items with that many people, %",
    "quota": "Items per person at most",
    "pair_design": "Which pairs",
    "pairs": "Number of pairs",
    "in_file_order": "Show items in the order of the file",
    "seed": "Seed",
    "gold_percent": "Items with a known answer, %",
    "gold_is_loud": "Give feedback at once on a wrong answer",
    "repeat_percent": "Pairs shown again with the sides swapped, %",
    "pass_mark": "Pass mark of the qualification, %",
    "completion_code": "Completion code",
    "completion_url": "Completion address",
    "board_is_public": "Anyone can see the leaderboard",
    "plays_new_comparators": "Play a tournament as soon as a new comparator is trained",
}
HELP = {
    "text_format": "Markdown shows bold words, lists, tables, code and formulas. Plain text shows the characters as they are. "
    "Exports, metrics and comparators always use the imported texts.",
    "overlap": "Measuring agreement needs at least two.",
    "overlap_percent": "One person judges each of the other items.",
    "quota": "Empty: no limit.",
    "pairs": "Only for a number of pairs drawn in balance.",
    "seed": "Seed of the random order and sides. The same seed gives the same draw.",
    "gold_percent": "Share of each person's items.",
    "repeat_percent": "Share of each person's pairs. Repeats show whether an answer depends on the side.",
    "pass_mark": "Empty: everybody passes.",
    "completion_code": "Shown only when a person's work is done.",
    "completion_url": "Where crowd workers return to, for example https://app.prolific.com/submissions/complete?cc=…",
}


class CampaignForm(forms.ModelForm):
    """The whole design but its criteria, in SECTIONS. `fixed` names what answers hold in place."""

    consent = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        label="Consent text",
        help_text="Markdown. Annotators agree to it before they start. Each change makes a new version. Empty: no consent.",
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
            self.add_error(None, "Choose scores, pairs or both.")
        if self.data.get("fixed", "") != self.fixed:  # a field that is fixed now was still free when the page was shown
            self.add_error(None, "The first answers arrived in the meantime. Check what you can still change, and save again.")
        return data


class SlugMixin(forms.Form):
    """A short name, made from the title where it was left empty."""

    slug = forms.SlugField(
        max_length=80,
        required=False,
        label="Short name",
        help_text="Used in addresses and commands. If empty, it is derived from the title. You cannot change it later.",
    )

    def clean(self):
        data = super().clean()
        if not data.get("slug") and data.get("title") and "slug" not in self.errors:
            data["slug"] = slugify(data["title"])[:80]
            if not data["slug"]:
                self.add_error("slug", "No short name follows from this title. Please enter one in Latin letters.")
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
    description = forms.CharField(max_length=300, required=False, label="Question to annotators")
    anchors = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="What each point means",
        help_text="One point on each line, for example: 3 acceptable",
    )
    remove = forms.BooleanField(required=False, label="Remove this criterion")

    def clean_anchors(self) -> dict[str, str]:
        anchors = {}
        for line in filter(None, map(str.strip, self.cleaned_data["anchors"].splitlines())):
            point, _, meaning = line.partition(" ")
            point, meaning = point.rstrip(":.="), meaning.lstrip("=:- ").strip()
            if not point.removeprefix("-").isdecimal() or len(point) > 5 or not meaning:
                raise forms.ValidationError(f"“{line}”: start with a point of the scale, then give its meaning.")
            if str(int(point)) in anchors:
                raise forms.ValidationError(f"The point {point} occurs twice.")
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
            self.add_error(None, "The ends of the scale must be two whole numbers.")
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

"""How a campaign is designed."""

import copy
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms import formset_factory
from django.utils.text import slugify

from annotation.campaigns.protocol import CriterionSpec
from annotation.models import Campaign, Criterion
from annotation.questions import conditions, registry

CRITERIA_ROWS = 50
SECTIONS = [
    (
        "What to judge",
        "",
        [
            "likert",
            "pairwise",
            "pairwise_by_criterion",
            "pair_points",
            "pair_both_bad",
            "outputs_at_once",
            "best_worst",
            "asks_reason",
        ],
    ),
    ("Number of judgments", "", ["overlap", "overlap_percent", "quota"]),
    ("Text format", "", ["text_format"]),
    ("Pairs and order", "", ["pair_design", "pairs", "in_file_order", "seed"]),
    (
        "Quality checks",
        "Import items with known answers, or mark items under Progress, Items.",
        ["gold_percent", "gold_is_loud", "repeat_percent", "pass_mark"],
    ),
    (
        "Completion",
        "",
        ["completion_code", "completion_url", "screened_out_code", "failed_checks_code", "check_mark", "timed_out_code"],
    ),
    ("Publication", "", ["board_is_public", "plays_new_comparators"]),
]
STEPS = [  # each with the sections that it has, by their place in SECTIONS
    ("What is asked", "What people judge, and the questions they answer.", (0,)),
    ("On which texts", "You import the texts next, from a file. Here you choose how they are shown and paired.", (2, 3)),
    ("Who answers", "What annotators read, how much each of them judges, and what they get at the end.", (1, 5)),
    (
        "Quality and plan",
        "Checks on the answers, and who sees the result. Once there are texts, the page Plan says how many answers are enough.",
        (4, 6),
    ),
]
LABELS = {
    "likert": "Score single outputs on the criteria below",
    "pairwise": "Judge pairs of outputs",
    "pairwise_by_criterion": "Judge pairs on each criterion, not only overall",
    "pair_points": "How pairs are judged",
    "pair_both_bad": "A pair may be answered “Both are bad”",
    "outputs_at_once": "Outputs compared at a time",
    "best_worst": "Of several outputs, ask for the best and the worst alone",
    "asks_reason": "Ask for a short comment with each item (never required)",
    "text_format": "Outputs and contexts are shown",
    "overlap": "People per item",
    "overlap_percent": "Share of items with that many people, %",
    "quota": "Items per person at most",
    "pair_design": "Which pairs, or rankings",
    "pairs": "Number of pairs, or rankings",
    "in_file_order": "Show items in the order of the file",
    "seed": "Seed",
    "gold_percent": "Items with a known answer, %",
    "gold_is_loud": "Give feedback at once on a wrong answer",
    "repeat_percent": "Pairs shown again with the sides swapped, %",
    "pass_mark": "Pass mark of the qualification, %",
    "completion_code": "Completion code",
    "completion_url": "Completion address",
    "screened_out_code": "Code: screened out",
    "failed_checks_code": "Code: failed checks",
    "check_mark": "Known answers to get right, %",
    "timed_out_code": "Code: timed out",
    "board_is_public": "Anyone can see the leaderboard",
    "plays_new_comparators": "Play a tournament as soon as a new comparator is trained",
}
HELP = {
    "text_format": "Markdown shows bold words, lists, tables, code and formulas. Plain text shows the characters as they are. "
    "Exports, metrics and comparators always use the imported texts.",
    "outputs_at_once": "2: pairs. 3 to 7: people rank so many outputs of a context, or all where it has fewer.",
    "best_worst": "Otherwise each output gets a place, and ties are allowed.",
    "overlap": "Measuring agreement needs at least two.",
    "overlap_percent": "One person judges each of the other items.",
    "quota": "Empty: no limit.",
    "pairs": "Only for a number drawn in balance.",
    "seed": "Seed of the random order and sides. The same seed gives the same draw.",
    "gold_percent": "Share of each person's items.",
    "repeat_percent": "Share of each person's pairs. Repeats show whether an answer depends on the side.",
    "pass_mark": "Empty: everybody passes.",
    "completion_code": "Shown only when a person's work is done.",
    "completion_url": "Where crowd workers return to, for example https://app.prolific.com/submissions/complete?cc=…",
    "screened_out_code": "Shown to those who miss the pass mark of the qualification.",
    "failed_checks_code": "Shown in place of the completion code to those who are done and got fewer known answers right.",
    "check_mark": "Of the items with a known answer among a person’s items. Empty: nobody fails them.",
    "timed_out_code": "Shown to those who began and cannot end: nothing is left, and they judged nothing or Prolific says that "
    "their time was up; or the campaign is closed.",
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
        for name in ("text_format", "pair_points", "outputs_at_once"):
            self.fields[name].required = False
        for name in fixed:
            self.fields[name].disabled = True

    def steps(self) -> list[dict]:
        """The steps of the design, each with its sections and their fields; a section nobody touched stays folded."""
        sections = [
            {
                "title": title,
                "about": about,
                "fields": [self[name] for name in names],
                "open": any(self[name].errors or self[name].value() != self.fields[name].initial for name in names),
            }
            for title, about, names in SECTIONS
        ]
        return [{"title": title, "about": about, "sections": [sections[n] for n in own]} for title, about, own in STEPS]

    def sketch(self) -> Campaign:
        """What was typed so far as a campaign that is not stored; of fields that are wrong, what a new campaign has."""
        if self.is_bound:
            self.is_valid()
            return self.instance
        return Campaign(**{name: value for name, value in self.initial.items() if name in self.Meta.fields})

    def clean_text_format(self) -> str:
        return self.cleaned_data["text_format"] or self.instance.text_format

    def clean_pair_points(self) -> int:
        return self.cleaned_data["pair_points"] or self.instance.pair_points

    def clean_outputs_at_once(self) -> int:
        return self.cleaned_data["outputs_at_once"] or self.instance.outputs_at_once

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


def kinds_to_choose() -> list[tuple[str, str]]:
    return [(kind.name, kind.title) for kind in registry.about_outputs()]


WAYS = [("below", "below"), ("at_least", "at least"), ("equal", "equal to")]


class CriterionForm(forms.Form):
    """A criterion: what all kinds of questions share, and the settings of each kind, of which the chosen one's count. A kind's
    fields are called KIND-FIELD, but for a scale's, which are called as they are."""

    pk = forms.IntegerField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(max_length=100, required=False)
    description = forms.CharField(max_length=300, required=False, label="Question to annotators")
    kind = forms.ChoiceField(choices=kinds_to_choose, required=False, label="Answered on")
    best = forms.ChoiceField(choices=Criterion.Best.choices, required=False, label="The best is")
    cannot_say = forms.BooleanField(required=False, label="Annotators may answer “Cannot say”")
    optional = forms.BooleanField(required=False, label="Annotators may leave it empty")
    asked_if = forms.CharField(
        max_length=100,
        required=False,
        label="Asked only if (an earlier criterion)",
        help_text="Or of a conversation by turns: “last turn”, or “turns 1, 3”.",
    )
    asked_way = forms.ChoiceField(choices=WAYS, required=False, label="is")
    asked_point = forms.IntegerField(required=False, label="this point of its scale")
    remove = forms.BooleanField(required=False, label="Remove this criterion")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for kind in registry.about_outputs():
            for name, field in kind.form.base_fields.items() if kind.form else ():
                self.fields[_form_name(kind, name)] = copy.deepcopy(field)
                self.fields[_form_name(kind, name)].required = False  # the kind's own form says what is wrong
        if len(registry.about_outputs()) == 1:
            self.fields["kind"].widget = forms.HiddenInput()

    def settings(self) -> list[dict]:
        """For the page: each kind's title with its fields."""
        return [
            {"kind": kind, "fields": [self[_form_name(kind, name)] for name in (kind.form.base_fields if kind.form else ())]}
            for kind in registry.about_outputs()
        ]

    def clean(self):
        data: dict[str, Any] = super().clean() or {}
        if data.get("remove"):
            return data
        kind = registry.kind_named(data.get("kind") or registry.SCALE.name)
        data |= {"kind": kind.name, "best": data.get("best") or Criterion.Best.HIGH}
        own = {name: self[_form_name(kind, name)].data for name in (kind.form.base_fields if kind.form else ())}
        if not data.get("name"):
            if data.get("description") or any(own.get(name) for name in own if not kind.form.base_fields[name].initial):
                self.add_error("name", "This criterion needs a name.")
            return data
        data["spec"] = self._own_settings(kind, own) | {"asked_if": self._condition(data)}
        return data

    def _condition(self, data: dict) -> dict:
        if not data.get("asked_if"):
            return {}
        if turns := conditions.at_turns(data["asked_if"]):
            return turns
        if data.get("asked_point") is None:
            if "asked_point" not in self.errors:
                self.add_error("asked_point", "The condition needs a point of that scale.")
            return {}
        return {"criterion": data["asked_if"], data.get("asked_way") or WAYS[0][0]: data["asked_point"]}

    def _own_settings(self, kind, own: dict) -> dict:
        """The criterion's fields that only its kind knows; what was typed for another kind does not count."""
        for name in [name for name in self.errors if name not in self.base_fields and name != NON_FIELD_ERRORS]:
            del self.errors[name]
        form = kind.form(own) if kind.form else forms.Form({})
        if not form.is_valid():
            for name, errors in form.errors.items():
                self.add_error(None if name == NON_FIELD_ERRORS else _form_name(kind, name), errors)
            return {}
        return kind.spec_fields(form.cleaned_data)


def _form_name(kind, name: str) -> str:
    return name if kind is registry.SCALE else f"{kind.name}-{name}"


def criteria_formset(data=None, rows=()):
    """The rows of criteria: as sent, or `rows` (what `rows_of` or `as_typed` gives) and an empty one where there is none."""
    extra = 0 if rows or data else 1
    formset = formset_factory(CriterionForm, extra=extra, max_num=CRITERIA_ROWS, absolute_max=CRITERIA_ROWS, validate_max=True)
    return formset(data, initial=rows, prefix="criteria")


SHARED = ("pk", "name", "description", "kind", "best", "cannot_say", "optional")


def rows_of(criteria) -> list[dict]:
    """Criteria, or specifications of criteria, as the rows show them."""
    rows = []
    for criterion in criteria:
        kind = registry.kind_named(criterion.kind)
        own = {_form_name(kind, name): value for name, value in kind.form_values(criterion).items()}
        rows.append({name: getattr(criterion, name) for name in SHARED} | own | _condition_fields(criterion.asked_if))
    return rows


def _condition_fields(asked_if: dict) -> dict:
    if turns := asked_if.get(conditions.TURN):
        return {"asked_if": "last turn" if turns == conditions.LAST else f"turns {', '.join(map(str, turns))}"}
    way = conditions.way_of(asked_if) if asked_if else WAYS[0][0]
    return {"asked_if": asked_if.get("criterion", ""), "asked_way": way, "asked_point": asked_if.get(way)}


def as_typed(form) -> dict:
    """What somebody has typed into a form that was sent, to be shown again unchecked."""
    return {name: form[name].value() for name in form.fields}


def filled_rows(formset) -> list[CriterionSpec]:
    """The rows that have a name and are in order; of a formset that is valid, all that have a name."""
    rows = [form.cleaned_data for form in formset if form.is_valid()]
    rows = [row for row in rows if row.get("name") and not row["remove"]]
    return [CriterionSpec(**({name: row[name] for name in SHARED} | row["spec"])) for row in rows]


class GuidelinesForm(forms.Form):
    guidelines = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 16}), help_text="Markdown.")

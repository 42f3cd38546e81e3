"""The known answer of an item."""

from django import forms

from annotation.campaigns.known_answers import KNOWN, LONGEST_FEEDBACK
from annotation.models import Item
from annotation.questions import registry


class KnownAnswerForm(forms.Form):
    """One field for each criterion, or the choice of a pair; `expected` is what the service takes."""

    purpose = forms.ChoiceField(
        label="Purpose",
        choices=[
            ("gold", "gold: mixed with other items to check attention"),
            ("training", "training: shown first, with feedback"),
            ("qualification", "qualification: decides who may continue"),
        ],
    )

    def __init__(self, *args, item: Item, criteria, **kwargs):
        self.item, self.criteria = item, list(criteria)
        known = item.expected or {}
        initial = {"purpose": item.purpose if item.purpose in KNOWN else "gold", "feedback": known.get("feedback", "")}
        super().__init__(*args, **{**kwargs, "initial": initial})
        if item.is_pair:
            choices = [("", "–"), ("A", f"A: {item.output.system}"), ("tie", "a tie"), ("B", f"B: {item.other.system}")]
            self.fields["choice"] = forms.ChoiceField(
                choices=choices, required=False, initial=known.get("choice"), label="Better output"
            )
        else:
            for criterion in self.criteria:
                kind = registry.kind_named(criterion.kind)
                right = known.get(kind.part, {}).get(criterion.name, [])
                self.fields[f"{kind.prefix}_{criterion.pk}"] = forms.CharField(
                    required=False,
                    max_length=100,
                    label=f"{criterion.name}: right {kind.counted or kind.files}",
                    initial=", ".join(map(str, right)),
                    help_text=f"From {criterion.low} to {criterion.high}; separate several with commas. Empty: not checked.",
                )
        self.fields["feedback"] = forms.CharField(
            required=False,
            max_length=LONGEST_FEEDBACK,
            widget=forms.Textarea(attrs={"rows": 3}),
            help_text="Why this is the right answer. Shown if annotators get feedback.",
        )

    def expected(self) -> dict:
        data = self.cleaned_data
        if self.item.is_pair:
            choices = (self.item.expected or {}).get("choices")  # by criterion: kept as imported
            return {"choice": data["choice"], "choices": choices, "feedback": data["feedback"]}
        expected: dict = {"feedback": data["feedback"]}
        for criterion in self.criteria:
            kind = registry.kind_named(criterion.kind)
            if right := data[f"{kind.prefix}_{criterion.pk}"].strip():
                expected.setdefault(kind.part, {})[criterion.name] = _whole_numbers(right)
        return expected


def _whole_numbers(text: str) -> list:
    """Numbers where they are numbers; the service refuses the rest in words."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return [int(part) if part.removeprefix("-").isdecimal() and len(part) < 6 else part for part in parts]

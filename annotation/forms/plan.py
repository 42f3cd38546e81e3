"""What a plan is worked out from."""

from typing import Any

from django import forms

from annotation.design.needed import Judge

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

    difference = forms.FloatField(
        required=False,
        min_value=0.0001,
        max_value=1000,
        label="Difference to find",
        help_text="Between two systems: points of the scale; for pairs, how far the win rate is above one half (0.1 is 60%).",
    )
    question = forms.ChoiceField(required=False, label="In the answers to")
    system = forms.ChoiceField(
        required=False,
        label="The system that is ahead",
        help_text="The plan counts how much the pilot's people divide over it. Empty: as over any system.",
    )
    divides = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1000,
        label="How much people divide over it",
        help_text="How many times as much their opinions of it vary as of the others. Empty: as the pilot says, else 1.",
    )
    share = forms.FloatField(
        required=False,
        min_value=0.01,
        max_value=1,
        label="How often a question with a condition is asked",
        help_text="The share of outputs, 0.3 for 30%. Empty: as the pilot has, else of each output.",
    )
    judge_correlation = forms.FloatField(
        required=False,
        min_value=0,
        max_value=0.999,
        label="A judge's correlation with people",
        help_text="Over the outputs of one system, with what people say on average. Empty: no judge helps.",
    )
    judge_contexts = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10_000_000,
        label="Contexts that the judge answers",
        help_text="Empty: ten times as many as people.",
    )

    def __init__(self, *args, pilots, questions=(), systems=(), of_rankings=False, has_conditions=True, **kwargs):
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        if not has_conditions:
            del fields["share"]
        if of_rankings:
            fields["seconds_per_pair"].label = "Seconds for a ranking"
        fields["question"].choices = [(name, name) for name in questions]
        fields["system"].choices = [("", "any"), *((name, name) for name in systems)]
        fields["pilot"].choices = [("", "none: use assumed variances"), *((c.slug, c.title) for c in pilots)]

    def judge(self) -> Judge | None:
        r, contexts = self.cleaned_data.get("judge_correlation"), self.cleaned_data.get("judge_contexts")
        return Judge(r, contexts or 10 * self.cleaned_data["contexts"]) if r else None

    def protocol(self) -> dict:
        return {name: self.cleaned_data[name] for name in PROTOCOL}

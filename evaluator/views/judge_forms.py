"""What the judges' page asks for: which judges a table has, and a language model at a configured endpoint."""

from typing import Any

from django import forms

from evaluator import model_settings, prompts
from evaluator.judge_tables.anchors import MOST_DAYS
from evaluator.judges.jury import WAYS
from evaluator.metaevaluation.alternative_annotator import EPSILON
from evaluator.models import Judge
from evaluator.offers import Offer
from evaluator.roster import LONGEST_NAME, candidates

BY = {"mean": "by the mean of their probabilities", "vote": "by vote"}
KINDS = {"crowd": "crowd workers", "skilled": "skilled, for example trained students", "expert": "experts"}


class EvaluateForm(forms.Form):
    criterion = forms.ChoiceField(required=False)
    annotators = forms.ChoiceField(
        label="The annotators are",
        choices=[(kind, f"{words} (epsilon {EPSILON[kind]:g})") for kind, words in KINDS.items()],
        help_text="The test allows a judge to agree a little less than an annotator. The allowance (epsilon) is larger if"
        " annotators are expensive.",
    )
    judges = forms.MultipleChoiceField(
        label="Also ask these judges",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="What a judge answered before is kept and costs nothing. A jury asks its judges. Stop the job to stop"
        " asking.",
    )

    def __init__(self, *args, criteria: list[str], offers: list[Offer], **kwargs):
        super().__init__(*args, **({"label_suffix": ""} | kwargs))
        fields: dict[str, Any] = self.fields
        fields["criterion"].choices = [("", "the first criterion (default)"), *((name, name) for name in criteria if name)]
        if offers:
            fields["judges"].choices = [(one.name, f"{one.name} ({one.kind})") for one in offers]
        else:
            del fields["judges"]


class ScheduleForm(forms.Form):
    """When a language model is asked again by itself."""

    every_days = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_DAYS,
        label="Ask again by itself, days after the last time",
        help_text="Empty: only when somebody asks.",
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **({"label_suffix": ""} | kwargs))


class ModelForm(forms.Form):
    """A language model to set up."""

    endpoint = forms.ChoiceField(help_text="The server, as it was configured with its key and its prices.")
    model = forms.CharField(max_length=LONGEST_NAME)
    prompt = forms.ChoiceField(help_text="What it is asked: a pair, a pair in five points, or a score of one output.")
    examples = forms.IntegerField(
        min_value=0, max_value=prompts.MOST_EXAMPLES, initial=0, label="Examples of people's answers, of other contexts"
    )
    references = forms.BooleanField(required=False, label="Show what people wrote for the same context")
    calls = forms.IntegerField(min_value=1, max_value=10**7, label="Most requests, ever")
    money = forms.FloatField(min_value=0, required=False, label="Most cost, ever", help_text="Empty: no such limit.")
    name = forms.CharField(max_length=LONGEST_NAME, required=False, help_text="Empty: the model's own.")

    def __init__(self, *args, campaign, endpoints: dict[str, model_settings.ConfiguredEndpoint], **kwargs):
        super().__init__(*args, **({"label_suffix": "", "prefix": "model"} | kwargs))
        fields: dict[str, Any] = self.fields
        fields["endpoint"].choices = [(name, name) for name in endpoints]
        fields["prompt"].choices = [(name, name) for name in prompts.names(campaign)]
        fields["prompt"].initial = prompts.DEFAULT


class JuryForm(forms.Form):
    """Several judges that answer together."""

    judges = forms.MultipleChoiceField(label="Its judges", widget=forms.CheckboxSelectMultiple, help_text="At least two.")
    by = forms.ChoiceField(label="They answer", choices=[(way, BY[way]) for way in WAYS])
    name = forms.CharField(max_length=LONGEST_NAME, required=False, help_text="Empty: jury.")

    def __init__(self, *args, campaign, **kwargs):
        super().__init__(*args, **({"label_suffix": "", "prefix": "jury"} | kwargs))
        fields: dict[str, Any] = self.fields
        offered = [one for one in candidates(campaign) if one.kind != Judge.Kind.JURY]
        fields["judges"].choices = [(one.name, f"{one.name} ({one.kind})") for one in offered]

"""The shapes that requests about runs have, and their answers."""

from typing import Any

from rest_framework import serializers

from annotation.api.request_fields import KnownFields, ShortList
from annotation.api.serializers import LARGEST, JobSerializer
from annotation.models import Context, Job
from evaluator.comparator.settings import MAX_SEED
from evaluator.roster import LONGEST_NAME
from leaderboard.runs import registry, reports

LARGEST_NUMBER = 1e300  # of a loss: beyond it sums are infinite


class Text(serializers.CharField):
    """As it is, with the spaces around it; a number is no text."""

    def __init__(self, **how):
        super().__init__(trim_whitespace=False, **how)

    def to_internal_value(self, data):
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Whole(serializers.IntegerField):
    """Of a JSON number alone: a text, true or 1.5 is none."""

    def to_internal_value(self, data):
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return super().to_internal_value(data)


class Number(serializers.FloatField):
    def to_internal_value(self, data):
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return super().to_internal_value(data)


class Settings(serializers.DictField):
    """Any JSON object whose texts a database can hold."""

    def to_internal_value(self, data):
        if isinstance(data, dict):
            stack: list[Any] = [data]
            while stack:
                value = stack.pop()
                if isinstance(value, str) and ("\0" in value or any("\ud800" <= c <= "\udfff" for c in value)):
                    raise serializers.ValidationError("A text holds a NUL character or half of a surrogate pair.")
                stack += [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
        return super().to_internal_value(data)


def steps(low: int = 0, **how) -> Whole:
    return Whole(min_value=low, max_value=LARGEST, **how)


class ContextRowSerializer(serializers.ModelSerializer):
    context_id = serializers.CharField(source="key")
    turns = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Context
        fields = ["context_id", "turns", "group"]


class NewRunSerializer(KnownFields, serializers.Serializer):
    name = Text(max_length=1000, help_text=f"At most {registry.LONGEST_NAME} characters, without a slash.")
    total_steps = steps(1, required=False, allow_null=True, help_text="Of the whole training; it may grow later.")
    contexts = Whole(
        required=False, allow_null=True, min_value=1, max_value=registry.MOST_CONTEXTS,
        help_text="How many each checkpoint answers; default: all, at most 1,000.",
    )  # fmt: skip
    settings = Settings(required=False, help_text="The trainer's own. Whoever researches the campaign sees them.")
    judge = serializers.CharField(
        required=False, allow_blank=True, allow_null=True, max_length=LONGEST_NAME, help_text="Default: the comparator in use."
    )
    worthwhile = Number(
        required=False, help_text="Points of win rate that a training is to gain in `per` steps; one that does is not stopped."
    )
    per = steps(1, required=False)
    error = Number(required=False, help_text="How often at most such a training is stopped, over all looks together.")
    previous = Whole(required=False, min_value=1, max_value=10, help_text="Of Zhou & Xu's rule: k.")
    losses = Whole(required=False, min_value=1, max_value=100, help_text="Of Zhou & Xu's rule: losses in a row.")
    plays = Whole(required=False, min_value=1, max_value=100_000, help_text="Of Zhou & Xu's rule: n.")
    seed = Whole(required=False, min_value=0, max_value=MAX_SEED)


RULES = ("worthwhile", "per", "error", "previous", "losses", "plays", "seed")


ROUNDED = 1e-3  # a logarithm of a probability that is near 1, summed in single precision, may come out so far above 0


class OutputSerializer(serializers.Serializer):
    context_id = Text(max_length=200)
    output = Text(allow_blank=True, max_length=reports.LONGEST_TEXT)
    logprob = Number(
        required=False, allow_null=True, min_value=-LARGEST_NUMBER, max_value=ROUNDED,
        error_messages={"max_value": "The logarithm of a probability is at most 0."},
        help_text="Natural logarithm of its probability.",
    )  # fmt: skip


class RunReportSerializer(serializers.Serializer):
    step = steps()
    outputs = ShortList(
        child=OutputSerializer(),
        min_length=1,
        max_length=registry.MOST_CONTEXTS,
        help_text="One for each of the run's contexts.",
    )
    validation_loss = Number(required=False, allow_null=True, min_value=-LARGEST_NUMBER, max_value=LARGEST_NUMBER)
    total_steps = steps(1, required=False, allow_null=True)
    part = Whole(required=False, min_value=1, max_value=reports.MOST_PARTS, help_text="Which part this is, from 1.")
    parts = Whole(
        required=False,
        min_value=1,
        max_value=reports.MOST_PARTS,
        help_text="In how many the checkpoint comes; default: in one.",
    )

    def validate(self, data):
        if data.get("part", 1) > data.get("parts", 1):
            raise serializers.ValidationError({"part": f"Part {data['part']} of {data.get('parts', 1)} is none."})
        return data


class ReceivedSerializer(serializers.Serializer):
    step = serializers.IntegerField()
    complete = serializers.BooleanField(help_text="Has every context its output? Then it is judged.")
    stored = serializers.IntegerField(help_text="Outputs that are new.")
    missing = serializers.IntegerField(help_text="Contexts whose output has not come.")
    job = JobSerializer(allow_null=True, help_text="Judges what waits.")
    left_out = serializers.ListField(child=serializers.CharField(), help_text="What was sent and is not kept.")


class RunRowSerializer(serializers.Serializer):
    """strengths: [[step, log-odds of winning against the first checkpoint]]."""

    name = serializers.CharField()
    judge = serializers.CharField()
    warning = serializers.CharField(help_text="Why the judge is not above every doubt here.")
    checkpoints = serializers.IntegerField()
    newest_step = serializers.IntegerField(allow_null=True)
    total_steps = serializers.IntegerField(allow_null=True)
    word = serializers.CharField()
    stop = serializers.BooleanField()
    best_step = serializers.IntegerField(allow_null=True)
    best_known = serializers.BooleanField(help_text="False where more than half may be it.")
    strengths = serializers.ListField(child=serializers.ListField(child=serializers.FloatField(allow_null=True)))
    waiting = serializers.IntegerField()
    reported_at = serializers.DateTimeField(allow_null=True, help_text="Of the newest report.")
    closed_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()


class CostSerializer(serializers.Serializer):
    """low, high: seconds for 1,000 outputs; null where nobody knows."""

    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    evaluations = serializers.IntegerField(help_text="From how many on this installation; 0: a figure of another machine.")
    said = serializers.CharField(help_text="The same in words.")


class JudgeCostSerializer(serializers.Serializer):
    """A judge that a run may have."""

    name = serializers.CharField()
    kind = serializers.CharField()
    is_default = serializers.BooleanField(help_text="Judges a run that names none.")
    cost = CostSerializer()


class RunJudgeSerializer(serializers.Serializer):
    name = serializers.CharField()
    kind = serializers.CharField()
    warning = serializers.CharField(allow_blank=True)
    cost = CostSerializer()


class SlopeSerializer(serializers.Serializer):
    """Points of win rate above 50% against the checkpoint `per` steps earlier; null before the first look."""

    estimate = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    per = serializers.IntegerField()


class BestSerializer(serializers.Serializer):
    """not_worse: the steps among which the best is with 95% probability."""

    step = serializers.IntegerField()
    probability = serializers.FloatField()
    rank_low = serializers.IntegerField()
    rank_high = serializers.IntegerField()
    not_worse = serializers.ListField(child=serializers.IntegerField())


class PointSerializer(serializers.Serializer):
    """A judged checkpoint. wins, ties, losses: against the previous k; low, high: 95% interval of win rate less loss rate."""

    step = serializers.IntegerField()
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    strength = serializers.FloatField(allow_null=True)
    strength_low = serializers.FloatField(allow_null=True)
    strength_high = serializers.FloatField(allow_null=True)
    validation_loss = serializers.FloatField(allow_null=True)
    degenerate = serializers.FloatField(allow_null=True, help_text="Mean share of an output that is blank, copied or repeated.")
    mean_length = serializers.FloatField(allow_null=True, help_text="Characters.")
    length_controlled = serializers.FloatField(allow_null=True, help_text="Win rate at equal length, 0 to 1.")
    unjudged = serializers.IntegerField()
    chosen = serializers.BooleanField()
    received_at = serializers.DateTimeField()
    judged_at = serializers.DateTimeField()
    seconds = serializers.FloatField(allow_null=True)


class IncompleteSerializer(serializers.Serializer):
    step = serializers.IntegerField()
    missing = serializers.IntegerField()


class RunJobSerializer(serializers.ModelSerializer):
    class Meta:
        model = Job
        fields = ["id", "status", "progress", "message", "error"]


class AdviceGivenSerializer(serializers.Serializer):
    step = serializers.IntegerField()
    word = serializers.CharField()
    rule = serializers.CharField()


class RunSerializer(serializers.Serializer):
    name = serializers.CharField()
    campaign = serializers.CharField()
    judge = RunJudgeSerializer()
    criterion = serializers.CharField(allow_blank=True)
    contexts = serializers.IntegerField()
    total_steps = serializers.IntegerField(allow_null=True)
    settings = serializers.DictField()
    rules = serializers.DictField()
    created_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    system = serializers.CharField(allow_null=True, help_text="That its chosen checkpoints belong to.")
    word = serializers.ChoiceField(["improving", "open", "no longer improving", "getting worse"])
    stop = serializers.BooleanField(help_text="By the sequential rule.")
    streak_stop = serializers.BooleanField(help_text="By the rule of Zhou & Xu (2020), five losses in a row.")
    looks = serializers.IntegerField()
    best = BestSerializer(allow_null=True)
    best_known = serializers.BooleanField(help_text="False where more than half may be it.")
    said = serializers.ListField(child=serializers.CharField())
    slope = SlopeSerializer(allow_null=True)
    points = PointSerializer(many=True)
    waiting = serializers.IntegerField(help_text="Whole checkpoints that are not judged yet.")
    incomplete = IncompleteSerializer(many=True)
    job = RunJobSerializer(allow_null=True)
    advice_given = AdviceGivenSerializer(many=True)
    provenance = serializers.DictField()
    left_out = serializers.ListField(child=serializers.CharField(), required=False, help_text="Of what was sent.")


class CandidateSerializer(serializers.Serializer):
    """A run's best checkpoint. win_rate: against the others on average, ties half, with its 95% interval, 0 to 1."""

    name = serializers.CharField()
    step = serializers.IntegerField()
    win_rate = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    probability = serializers.FloatField(help_text="That it is the best.")
    rank_low = serializers.IntegerField()
    rank_high = serializers.IntegerField()


class OtherChoiceSerializer(serializers.Serializer):
    by = serializers.CharField()
    choice = serializers.CharField(allow_null=True)
    values = serializers.DictField(child=serializers.FloatField(allow_null=True), help_text="By run.")


class ComparedSerializer(serializers.Serializer):
    """not_worse: runs among which the best is with 95% probability. others: what would have chosen without a judge."""

    judge = serializers.CharField()
    contexts = serializers.IntegerField()
    runs = CandidateSerializer(many=True)
    not_worse = serializers.ListField(child=serializers.CharField())
    others = OtherChoiceSerializer(many=True)
    said = serializers.ListField(child=serializers.CharField())


class ChooseSerializer(KnownFields, serializers.Serializer):
    step = steps()
    purpose = serializers.ChoiceField(
        ["board", "people"],
        help_text="board: it plays as the system that has the run's name; people: they are asked about it and `beside`.",
    )
    beside = steps(required=False, allow_null=True, help_text="Another step, for people.")

    def validate(self, data):
        if data["purpose"] == "people" and data.get("beside") is None:
            raise serializers.ValidationError({"beside": "Name the step that people compare it with."})
        return data


class ChosenSerializer(serializers.Serializer):
    systems = serializers.ListField(child=serializers.CharField())
    outputs = serializers.IntegerField(help_text="New ones.")
    items = serializers.IntegerField(help_text="How many more people have before them.")
    pairs = serializers.IntegerField(help_text="Of the two checkpoints.")
    said = serializers.ListField(child=serializers.CharField())

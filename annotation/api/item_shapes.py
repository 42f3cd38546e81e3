"""The shapes of what annotators are shown and send. Nothing here names a system, or tells a known answer from another."""

import uuid

from rest_framework import serializers

from annotation.annotating.item_page import hidden_fields, item_context, suggestions
from annotation.api.request_fields import KnownFields
from annotation.api.serializers import CriterionSerializer
from annotation.campaigns.images import unnamed
from annotation.models import Annotator, Assignment, Campaign, ItemReport
from annotation.questions import registry
from annotation.questions.kind import CANNOT_SAY
from annotation.questions.ranked.kind import SENT as RANKED
from annotation.questions.store import REASON_LENGTH
from annotation.questions.strength import SENT

BIGGEST = 2**63 - 1
MOST_CHARACTERS = 1000  # of one answer


class ProgressSerializer(serializers.Serializer):
    phase = serializers.CharField(help_text="training, qualification, evaluation, finished or not qualified.")
    done = serializers.IntegerField()
    total = serializers.IntegerField(help_text="Those done and the ones still to come; others' work may lower it.")


class TaskSerializer(serializers.ModelSerializer):
    """A campaign as its annotators see it."""

    criteria = CriterionSerializer(many=True)

    class Meta:
        model = Campaign
        fields = [
            "slug",
            "title",
            "guidelines",
            "status",
            "likert",
            "pairwise",
            "pairwise_by_criterion",
            "pair_points",
            "pair_both_bad",
            "outputs_at_once",
            "best_worst",
            "asks_reason",
            "text_format",
            "criteria",
        ]


class TaskDetailSerializer(TaskSerializer):
    progress = ProgressSerializer(read_only=True)
    consent = serializers.JSONField(read_only=True, help_text="{version, text} to agree to before the first item, or null.")

    class Meta(TaskSerializer.Meta):
        fields = [*TaskSerializer.Meta.fields, "progress", "consent"]


class AssignmentSerializer(serializers.Serializer):
    """What is put before the annotator. key: send it with the answer, again if the connection broke; shown: send it back."""

    id = serializers.IntegerField()
    context = serializers.ListField(child=serializers.CharField(), help_text="The turns of a dialogue, or one text.")
    output = serializers.CharField(allow_null=True, help_text="To be scored; null for a pair.")
    left = serializers.CharField(allow_null=True)
    right = serializers.CharField(allow_null=True)
    outputs = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="To be ranked, in the order shown; null for one or a pair."
    )
    suggested = serializers.DictField(
        child=serializers.JSONField(),
        help_text="By the criterion's id: what somebody or a program answered before, to go through.",
    )
    turn = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="[2, 5] for the second of five turns of a conversation that are judged; null for what is none.",
    )
    key = serializers.UUIDField()
    shown = serializers.CharField()


class NextSerializer(serializers.Serializer):
    assignment = AssignmentSerializer(allow_null=True, help_text="null: nothing is left, or the campaign rests.")
    progress = ProgressSerializer()
    minutes_left = serializers.IntegerField(allow_null=True, help_text="At the person's own pace; null at the beginning.")


class SideField(serializers.RegexField):
    """A side of a pair; the places of several outputs in the order shown, "2143"; or the best and the worst of them, "2>4"."""

    def __init__(self, **kwargs):
        sides = "|".join([*SENT, CANNOT_SAY])
        super().__init__(regex=rf"^({sides}|{RANKED.pattern})$", **kwargs)


class SentField(serializers.JSONField):
    """A number of a scale; "cannot_say", where the criterion lets people say so; or what another kind of question takes."""

    def to_internal_value(self, data):
        if isinstance(data, bool) or isinstance(data, str) and len(data) > MOST_CHARACTERS:
            self.fail("invalid")
        return super().to_internal_value(data)


class ByCriterion(serializers.DictField):
    """Its keys are criteria's ids."""

    def to_internal_value(self, data):
        if isinstance(data, dict) and not all(key.isascii() and key.isdecimal() and len(key) < 19 for key in data):
            raise serializers.ValidationError("The keys are ids of criteria.")
        return super().to_internal_value(data)


class AnswerSerializer(KnownFields, serializers.Serializer):
    """`scores` for an output; `choice` for a pair, or `choices` where pairs are judged on each criterion (by its id). Criteria
    of another kind than a scale have a part of their own, called as the kind says."""

    assignment = serializers.IntegerField(min_value=1, max_value=BIGGEST)
    key = serializers.UUIDField(default=uuid.uuid4, help_text="The same key again stores nothing twice.")
    scores = ByCriterion(child=SentField(), required=False, help_text="By the criterion's id.")
    choice = SideField(required=False)
    choices = ByCriterion(child=SideField(), required=False)
    reason = serializers.CharField(required=False, allow_blank=True, max_length=REASON_LENGTH)
    shown = serializers.CharField(required=False, allow_blank=True, max_length=200)
    active_milliseconds = serializers.IntegerField(required=False, min_value=0, max_value=BIGGEST)

    def get_fields(self):
        """With a part for each kind that is registered."""
        fields = super().get_fields()
        for kind in registry.about_outputs():
            if kind.part not in fields:
                fields[kind.part] = ByCriterion(child=SentField(), required=False)
        return fields

    def answer(self) -> dict:
        names = {"choice", "reason", *(kind.part for kind in registry.kinds())}
        return {name: value for name, value in self.validated_data.items() if name in names}


class CheckSerializer(serializers.Serializer):
    what = serializers.CharField(help_text="The criterion's name; empty: the pair on the whole.")
    given = serializers.CharField()
    expected = serializers.CharField()
    is_right = serializers.BooleanField()


class StoredSerializer(serializers.Serializer):
    """is_surplus: kept, but the item was answered before or its place had gone to another. feedback: in training, and for
    missed known answers where the campaign tells at once. left_out: criteria whose answer was sent and is not stored, since
    their condition (`asked_if`) does not hold."""

    key = serializers.UUIDField()
    is_surplus = serializers.BooleanField()
    feedback = CheckSerializer(many=True)
    left_out = serializers.ListField(child=serializers.CharField())


class GivenSerializer(serializers.Serializer):
    """An answer given earlier."""

    assignment = serializers.IntegerField(source="assignment_id")
    key = serializers.UUIDField()
    answer = serializers.JSONField(source="payload")
    created_at = serializers.DateTimeField()


class InHandSerializer(KnownFields, serializers.Serializer):
    in_hand = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=BIGGEST,
        help_text="The assignment shown with the button, 0 for none: a second click then takes back nothing more.",
    )


class ReportSerializer(KnownFields, serializers.Serializer):
    assignment = serializers.IntegerField(min_value=1, max_value=BIGGEST)
    reason = serializers.CharField(max_length=500)


class OwnReportSerializer(serializers.ModelSerializer):
    item = serializers.IntegerField(source="item_id")

    class Meta:
        model = ItemReport
        fields = ["item", "kind", "reason", "created_at", "reply", "replied_at"]


class VersionSerializer(KnownFields, serializers.Serializer):
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class GuestSerializer(KnownFields, serializers.Serializer):
    name = serializers.CharField(max_length=60, required=False, allow_blank=True, help_text="Of a guest; researchers see it.")


class JoinedSerializer(serializers.Serializer):
    """token: a guest's key to everything they do from now on; null for a user who was signed in."""

    task = serializers.CharField()
    token = serializers.CharField(allow_null=True)


def shown(assignment: Assignment | None, campaign: Campaign) -> dict | None:
    if assignment is None:
        return None
    page, hidden = item_context(campaign, assignment.item, assignment.shown), hidden_fields(assignment)
    size = assignment.item.size

    def text(of: str) -> str:
        return unnamed(campaign, page[of].text)

    return {
        "id": assignment.pk,
        "context": [unnamed(campaign, turn) for turn in page["context"].turns],
        "turn": page["turn"],
        "key": hidden["key"],
        "shown": hidden["shown"],
        "output": text("output") if size == 1 else None,
        "left": text("left") if size == 2 else None,
        "right": text("right") if size == 2 else None,
        "suggested": {
            str(q.key): sent for q, sent in suggestions(registry.asked(campaign, assignment.item), assignment.item).items()
        },
        "outputs": [unnamed(campaign, output.text) for output in assignment.shown] if size > 2 else None,
    }


def turn_as_dict(annotator: Annotator, turn) -> dict:
    return {"assignment": shown(turn.assignment, annotator.campaign), "progress": turn.progress, "minutes_left": turn.minutes}

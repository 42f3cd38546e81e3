"""The shapes that researchers' requests and answers have."""

from datetime import datetime

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.api.request_fields import KnownFields, ShortList
from annotation.assessment.acceptance import accepted
from annotation.assessment.numbers import numbers
from annotation.campaigns.protocol import CriterionSpec
from annotation.campaigns.templates import TEMPLATES
from annotation.data.contradictions import LATEST, LEAVE_OUT, WAYS
from annotation.models import Campaign, Criterion, Invitation, Item, Job, Snapshot, Upload
from core.encodings import ENCODINGS

PROTOCOL = [
    "title",
    "guidelines",
    "likert",
    "pairwise",
    "pairwise_by_criterion",
    "pair_points",
    "pair_both_bad",
    "outputs_at_once",
    "best_worst",
    "asks_reason",
    "text_format",
    "overlap",
    "overlap_percent",
    "quota",
    "pair_design",
    "pairs",
    "in_file_order",
    "seed",
    "gold_percent",
    "gold_is_loud",
    "repeat_percent",
    "pass_mark",
    "completion_code",
    "completion_url",
    "screened_out_code",
    "failed_checks_code",
    "timed_out_code",
    "check_mark",
    "board_is_public",
    "plays_new_comparators",
]
LARGEST = 2**31 - 1  # PostgreSQL's integer
COUNT = {"min_value": 0, "max_value": LARGEST}


class CriterionSerializer(KnownFields, serializers.ModelSerializer):
    """`id` is given to change a criterion that is there; without it, a new one is meant."""

    id = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST)
    low = serializers.IntegerField(default=1, min_value=-1000, max_value=1000)
    high = serializers.IntegerField(default=5, min_value=-1000, max_value=1000)
    kind = serializers.CharField(default="scale", max_length=20, help_text="A kind of question about one output.")
    best = serializers.ChoiceField(Criterion.Best.choices, default="high", help_text="Which end of the scale is best.")
    cannot_say = serializers.BooleanField(default=False, help_text="Annotators may answer that they cannot say.")
    optional = serializers.BooleanField(default=False, help_text="Annotators may leave it empty.")
    settings = serializers.DictField(default=dict, help_text="What only its kind of question knows.")
    asked_if = serializers.DictField(
        default=dict,
        help_text='Asked only if an earlier criterion is so: {"criterion": "Overall", "below": 3}; or at_least, equal. Or'
        ' at some turns of a conversation: {"turn": "last"}, {"turn": [1, 3]}.',
    )
    anchors = serializers.DictField(
        child=serializers.CharField(max_length=200), default=dict, help_text='What a point means: {"3": "would do"}.'
    )

    class Meta:
        model = Criterion
        fields = [
            "id",
            "name",
            "description",
            "kind",
            "low",
            "high",
            "low_label",
            "high_label",
            "anchors",
            "best",
            "cannot_say",
            "optional",
            "settings",
            "asked_if",
        ]

    def validate(self, criterion: dict) -> dict:
        if "name" not in criterion:  # also in a PATCH, which asks for no field: the list is sent as a whole
            raise serializers.ValidationError({"name": "This field is required."})
        return criterion

    def validate_anchors(self, anchors: dict) -> dict:
        for point in anchors:
            digits = point.removeprefix("-")
            if not (digits.isascii() and digits.isdecimal() and len(digits) < 5):
                raise serializers.ValidationError("The keys are points of the scale, written as whole numbers.")
        return anchors

    @staticmethod
    def spec(data: dict) -> CriterionSpec:
        return CriterionSpec(**{k: v for k, v in data.items() if k != "id"}, pk=data.get("id"))


class CampaignSerializer(serializers.ModelSerializer):
    criteria = CriterionSerializer(many=True, required=False, max_length=50)

    class Meta:
        model = Campaign
        fields = ["slug", "status", "is_simulated", "created_at", *PROTOCOL, "criteria"]
        read_only_fields = ["slug", "status", "is_simulated", "created_at"]
        extra_kwargs = {"quota": COUNT, "pairs": COUNT, "seed": COUNT, "overlap": {"min_value": 1, "max_value": 1000}}


class CampaignWriteSerializer(KnownFields, CampaignSerializer):
    """`consent` is what annotators agree to (Markdown); a change makes a new version."""

    returned = ("numbers", "counted_at")
    consent = serializers.CharField(required=False, allow_blank=True, write_only=True)

    class Meta(CampaignSerializer.Meta):
        fields = [*CampaignSerializer.Meta.fields, "consent"]


class NewCampaignSerializer(CampaignWriteSerializer):
    slug = serializers.SlugField(max_length=80)
    template = serializers.ChoiceField(
        list(TEMPLATES), required=False, write_only=True, help_text="Fills in what is not sent: guidelines and criteria."
    )

    class Meta(CampaignWriteSerializer.Meta):
        fields = [*CampaignWriteSerializer.Meta.fields, "template"]
        read_only_fields = ["status", "is_simulated", "created_at"]


class CampaignDetailSerializer(CampaignSerializer):
    """numbers: how many systems, contexts, outputs, items, annotators, scores, judgments, snapshots there are; items_done:
    those that as many people answered as the overlap asks. counted_at: when contexts, outputs, items and answers were
    counted; empty where that is now, as it is of all but large campaigns."""

    numbers = serializers.SerializerMethodField()
    counted_at = serializers.SerializerMethodField()

    class Meta(CampaignSerializer.Meta):
        fields = [*CampaignSerializer.Meta.fields, "numbers", "counted_at"]

    def to_representation(self, campaign):
        self.followed = numbers(campaign)
        return super().to_representation(campaign)

    def get_numbers(self, campaign) -> dict[str, int]:
        return self.followed.result or {}

    def get_counted_at(self, campaign) -> datetime | None:
        return self.followed.as_of


class StatusSerializer(KnownFields, serializers.Serializer):
    status = serializers.ChoiceField(choices=Campaign.Status.choices)


class CopySerializer(KnownFields, serializers.Serializer):
    slug = serializers.SlugField(max_length=80)
    title = serializers.CharField(max_length=200, required=False, allow_blank=True)
    with_texts = serializers.BooleanField(default=False, help_text="With its outputs and known answers.")


class ShortJSON(serializers.JSONField):
    """In a form, as a text."""

    def to_internal_value(self, data):
        try:
            return super().to_internal_value(data)
        except RecursionError:
            self.fail("invalid")


class ImportSerializer(KnownFields, serializers.Serializer):
    file = serializers.FileField(
        allow_empty_file=True,
        help_text="JSON, JSON lines, CSV or Excel (by its name), or a zipped folder of such files. Rows with a context may "
        "name its `group`, a topic or source document; all rows of one context name the same.",
    )
    dry_run = serializers.BooleanField(default=False, help_text="Only check; store nothing.")
    human_systems = ShortList(
        child=serializers.CharField(max_length=200),
        required=False,
        max_length=100,
        help_text="For outputs: systems whose texts people wrote.",
    )
    system = serializers.CharField(max_length=200, required=False, help_text="For outputs: every row is this system's.")
    systems = ShortList(
        child=serializers.CharField(max_length=200),
        required=False,
        max_length=1000,
        help_text="For outputs: columns that each hold one system's outputs.",
    )
    aspects = ShortList(
        child=serializers.CharField(max_length=100),
        required=False,
        max_length=1000,
        help_text="For scores: columns that each hold one criterion's scores.",
    )
    raters = ShortList(
        child=serializers.CharField(max_length=200),
        required=False,
        max_length=1000,
        help_text="For scores: columns that each hold one annotator's scores.",
    )
    judges = ShortList(
        child=serializers.CharField(max_length=100),
        required=False,
        max_length=1000,
        help_text="For judge_scores: columns that each hold one judge's scores.",
    )
    judge = serializers.CharField(
        max_length=100, required=False, help_text="For judge_scores and judge_pairs: who said all rows."
    )
    replace = serializers.BooleanField(
        required=False, help_text="For judge_scores and judge_pairs: in the place of all that these judges said before."
    )
    encoding = serializers.ChoiceField(ENCODINGS, required=False, help_text="Of a text file without a mark; UTF-8 if empty.")
    spellings_apart = serializers.BooleanField(
        required=False, help_text="Names that differ only in case, spaces or dashes are different names."
    )
    contradictions = serializers.ChoiceField(
        [way for way in WAYS if way],
        required=False,
        help_text="For scores and judgments: what becomes of answers of one person that contradict each other. "
        f"Empty: the file is refused. {LEAVE_OUT}: {WAYS[LEAVE_OUT]}. {LATEST}: {WAYS[LATEST]}.",
    )
    keep_columns = serializers.BooleanField(required=False, help_text="For outputs: store unknown columns as metadata.")
    simulated = serializers.BooleanField(required=False, help_text="For scores and judgments: a program made them.")
    columns = ShortJSON(
        required=False,
        help_text="{field: the file's column for it, or an empty text for none}, as JSON. Without it, the columns' names tell.",
    )
    constants = ShortJSON(required=False, help_text="{field: what it is in every row without it}, as JSON.")

    def validate_columns(self, columns) -> dict[str, str]:
        return _texts_by_name(columns)

    def validate_constants(self, constants) -> dict[str, str]:
        return _texts_by_name(constants)


def _texts_by_name(value) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise serializers.ValidationError("Expected a JSON object of texts.")
    return value


class ImportedSerializer(serializers.Serializer):
    rows = serializers.IntegerField()
    new = serializers.DictField(child=serializers.IntegerField(), help_text="How many were new, by kind.")
    dry_run = serializers.BooleanField()
    repeated = serializers.IntegerField(required=False, help_text="Were there already, or stood in the file before.")
    left_out = serializers.DictField(
        child=serializers.IntegerField(), required=False, help_text="How many were read and not stored, by reason."
    )
    listed = serializers.ListField(
        child=serializers.ListField(), required=False, help_text="[file, line, reason] of the first that were left out."
    )
    elsewhere = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text="What else the file holds, by kind; another import reads it.",
    )
    assumed = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="What was taken for granted, in sentences."
    )
    unused = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Columns that are no field and are not kept; files not read."
    )


class ItemSerializer(serializers.ModelSerializer):
    """systems: one for an output to score, two for a pair, more for a ranking. taken: people who answered it or hold it now."""

    context = serializers.CharField(source="output.context.key")
    systems = serializers.SerializerMethodField()

    class Meta:
        model = Item
        fields = ["id", "position", "purpose", "context", "systems", "places", "taken"]

    def get_systems(self, item) -> list[str]:
        if item.size <= 2:
            return [output.system.name for output in item.texts]
        if "systems" not in self.context:  # read once for a list
            self.context["systems"] = dict(item.campaign.systems.values_list("pk", "name"))
        return [self.context["systems"][int(system)] for system in item.cell.split(":")]


class AnnotatorSerializer(serializers.Serializer):
    name = serializers.CharField(help_text="The pseudonym that exports carry.")
    is_simulated = serializers.BooleanField()
    scores = serializers.IntegerField(source="score_count")
    judgments = serializers.IntegerField(source="judgment_count", help_text="A ranking of several outputs is one.")
    has_qualified = serializers.BooleanField(allow_null=True)
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class InvitationSerializer(KnownFields, serializers.ModelSerializer):
    class Meta:
        model = Invitation
        fields = ["id", "token", "label", "cap", "uses", "revoked_at", "created_at"]
        read_only_fields = ["token", "uses", "revoked_at", "created_at"]
        extra_kwargs = {"cap": {"min_value": 1, "max_value": LARGEST}}


class RuleSerializer(KnownFields, serializers.Serializer):
    """How scores are filtered before agreement is judged: see the statistics in the documentation."""

    mad = serializers.FloatField(default=1.0, min_value=0.1, max_value=10, allow_null=True, help_text="null: no filter")
    level = serializers.ChoiceField(choices=["ordinal", "interval", "nominal", "ratio"], default="ordinal")
    on_zero_mad = serializers.ChoiceField(choices=["drop", "keep"], default="drop")
    verdict = serializers.ChoiceField(
        choices=["", "zhao-2020"],
        default="",
        help_text="Empty: what fits each question, agreement or reliability; zhao-2020: alpha after the filter alone.",
    )


class SearchSerializer(KnownFields, serializers.Serializer):
    """difference: points of the scale; for pairs, how far the win rate is above one half."""

    difference = serializers.FloatField(min_value=0.0001, max_value=1000)
    question = serializers.CharField(max_length=100, default="", allow_blank=True, help_text="Empty: the first.")
    contexts = serializers.IntegerField(min_value=2, max_value=1_000_000, required=False)
    annotators = serializers.IntegerField(min_value=1, max_value=100_000, required=False)
    pilot = serializers.CharField(max_length=200, required=False, help_text="A campaign; default: this one.")
    judge_correlation = serializers.FloatField(min_value=0, max_value=0.999, required=False)
    judge_contexts = serializers.IntegerField(min_value=1, max_value=10_000_000, required=False)
    system = serializers.CharField(
        max_length=200, required=False, help_text="That is ahead: counts how much people divide over it in the pilot."
    )
    divides = serializers.FloatField(
        min_value=0,
        max_value=1000,
        required=False,
        help_text="How many times as much people's opinions of it vary as of the others; default: as the pilot says, else 1.",
    )
    share = serializers.FloatField(
        min_value=0.01,
        max_value=1,
        required=False,
        help_text="Of the outputs, that are asked a question with a condition; default: as the pilot has, else 1.",
    )


class WaySerializer(serializers.Serializer):
    contexts = serializers.IntegerField()
    per_item = serializers.IntegerField(help_text="People on each item.")
    annotators = serializers.IntegerField()
    judgments = serializers.IntegerField()
    power = serializers.FloatField()


class FoundSearchSerializer(serializers.Serializer):
    """ways: the fewest contexts that are enough, by people an item; at_budget: what the plan's own judgments find otherwise."""

    question = serializers.CharField()
    unit = serializers.CharField()
    variance_from = serializers.CharField()
    difference = serializers.FloatField()
    divides = serializers.FloatField(allow_null=True, help_text="Null: only over the system that is ahead.")
    power = serializers.FloatField()
    cheapest = WaySerializer(allow_null=True)
    ways = WaySerializer(many=True)
    budget = serializers.IntegerField()
    at_budget = WaySerializer(many=True)


class SnapshotSerializer(serializers.ModelSerializer):
    name = serializers.CharField(help_text="The first twelve digits of the digest.")

    class Meta:
        model = Snapshot
        fields = ["name", "digest", "rule", "scores", "judgments", "is_simulated", "created_at", "accepted_at"]


class AssessmentSerializer(serializers.Serializer):
    """A snapshot with what was decided: each report holds the statistics behind its verdict, with their intervals."""

    snapshot = serializers.CharField()
    digest = serializers.CharField()
    rule = serializers.DictField()
    simulated = serializers.BooleanField()
    criteria = serializers.ListField(child=serializers.DictField())
    pairwise = serializers.DictField(allow_null=True)
    marks = serializers.ListField(child=serializers.CharField(), help_text="What became of its contents later.")


class ReasonSerializer(KnownFields, serializers.Serializer):
    criterion = serializers.CharField(max_length=100, allow_blank=True, help_text="Empty: the judgments of pairs.")
    reason = serializers.CharField(max_length=1000)


class JobSerializer(serializers.ModelSerializer):
    class Meta:
        model = Job
        fields = [
            "id",
            "title",
            "status",
            "progress",
            "message",
            "error",
            "attempts",
            "created_at",
            "started_at",
            "finished_at",
        ]


class ImportedFileSerializer(ImportedSerializer):
    """What became of a file that a worker imported. errors: the first of them, each with file, line, row, field and message."""

    state = serializers.ChoiceField(Upload.State.choices)
    rows = serializers.IntegerField(allow_null=True)
    dry_run = None  # the state says it
    error_count = serializers.IntegerField()
    errors = serializers.ListField(child=serializers.DictField())


ACCOUNT = {field for field in ImportedSerializer().fields if field != "dry_run"}


class JobDetailSerializer(JobSerializer):
    imported = serializers.SerializerMethodField(help_text="Of a job that imports a file; else null.")
    snapshot = serializers.SerializerMethodField(help_text="The digest of what a job froze; else null.")

    class Meta(JobSerializer.Meta):
        fields = [*JobSerializer.Meta.fields, "imported", "snapshot"]

    def get_snapshot(self, job) -> str | None:
        return accepted(job)

    @extend_schema_field(ImportedFileSerializer(allow_null=True))
    def get_imported(self, job) -> dict | None:
        upload = Upload.objects.filter(job=job).first()
        if upload is None:
            return None
        errors = [entry | {"field": entry["field"] or None} for entry in upload.error_entries()]
        result = {"rows": None, "new": {}} | {name: value for name, value in upload.result.items() if name in ACCOUNT}
        return {"state": upload.state, **result, "error_count": upload.error_count, "errors": errors}

"""Judges, trained comparators, and the runs that made them."""

import hashlib
import json

from django.db import models


class TrainingRun(models.Model):
    """One training: its job, what it reads, its settings, its learning curve so far."""

    was_waiting = False  # not stored: it was asked for again while it waits or runs

    job = models.OneToOneField("annotation.Job", models.CASCADE, related_name="training_run")
    campaigns = models.ManyToManyField("annotation.Campaign", related_name="training_runs")
    snapshots = models.ManyToManyField("annotation.Snapshot", related_name="training_runs")
    criterion = models.CharField(max_length=100, blank=True, help_text="Empty: the judgments of pairs alone.")
    seed = models.PositiveIntegerField(default=0)
    settings = models.JSONField(default=dict, blank=True)
    gates = models.JSONField(default=dict, blank=True, help_text="By campaign, what was asked before it might serve.")
    warning = models.TextField(blank=True, help_text="Why the judgments behind it are not above every doubt.")
    curve = models.JSONField(default=list, blank=True, help_text="Points of the learning curve, in order.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self):
        return f"training run {self.pk}"


class ComparatorVersion(models.Model):
    """A trained comparator. Never changed once written; its files lie in MODELS_DIR/<name>."""

    name = models.CharField(max_length=60, unique=True, help_text="What commands, pages and signatures call it.")
    run = models.OneToOneField(
        TrainingRun, models.PROTECT, null=True, blank=True, related_name="version", help_text="Empty: uploaded."
    )
    campaigns = models.ManyToManyField("annotation.Campaign", related_name="comparators")
    criterion = models.CharField(max_length=100, blank=True)
    snapshots = models.JSONField(help_text="Digests of what it learned from.")
    settings = models.JSONField()
    seed = models.PositiveIntegerField()
    code = models.CharField(max_length=60, help_text="Code version that trained it.")
    metrics = models.JSONField(help_text="Held-out accuracy with interval and baseline, pairs, seconds.")
    is_simulated = models.BooleanField(default=False, help_text="Learned from simulated judgments.")
    gates = models.JSONField(default=dict, blank=True, help_text="By campaign, what was asked before it might serve.")
    measured_here = models.JSONField(
        default=dict, blank=True, help_text="By campaign it judges and did not learn from, what was measured there."
    )
    warning = models.TextField(blank=True, help_text="Why the judgments behind it are not above every doubt.")
    retired_at = models.DateTimeField(null=True, blank=True, help_text="No longer judges; what it judged stays.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self):
        return self.name


class RetrainingRule(models.Model):
    """When a campaign's comparator in use is trained again by itself. Without a row, and with neither number: never."""

    campaign = models.OneToOneField("annotation.Campaign", models.CASCADE, related_name="retraining_rule")
    after_days = models.PositiveIntegerField(null=True, blank=True)
    after_judgments = models.PositiveIntegerField(
        null=True, blank=True, help_text="Accepted scores and judgments that the last training did not have."
    )
    user = models.ForeignKey(
        "annotation.User", models.SET_NULL, null=True, blank=True, related_name="+", help_text="In whose name it is trained."
    )
    refused = models.TextField(blank=True, help_text="Why the last attempt started nothing.")
    refused_for = models.CharField(max_length=64, blank=True, help_text="Digest of the snapshot of that attempt.")

    def __str__(self):
        return f"retraining of {self.campaign}"


class Promotion(models.Model):
    """The comparator in use in a campaign from here on. The latest row holds; an earlier version promoted again is a
    rollback."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="promotions")
    version = models.ForeignKey(ComparatorVersion, models.PROTECT, related_name="promotions")
    gate = models.JSONField(default=list, help_text="What was asked of it: [{question, passed, answer}].")
    reason = models.TextField(blank=True, help_text="A person's, where the gate did not pass or was not asked.")
    user = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self):
        return f"{self.version} in use in {self.campaign}"


class Dialogue(models.Model):
    """A conversation between people, without judgments: what self-supervision learns from."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="dialogues")
    key = models.CharField(max_length=200, help_text="The dialogue's id in the imported file.")
    turns = models.JSONField(help_text="In order; the speakers alternate.")
    references = models.JSONField(default=list, blank=True, help_text="For each turn, other replies people wrote there.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["campaign", "key"], name="one_dialogue_per_key")]

    def __str__(self):
        return self.key


class Utility(models.Model):
    """What one version says of one output: judged once, whatever tournament asks."""

    version = models.ForeignKey(ComparatorVersion, models.CASCADE, related_name="utilities")
    output = models.ForeignKey("annotation.Output", models.CASCADE, related_name="utilities")
    value = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "output"], name="one_utility_per_version")]

    def __str__(self):
        return f"{self.value:.3f}"


class Judge(models.Model):
    """Whoever or whatever, other than people, prefers one output to another in a campaign."""

    class Kind(models.TextChoices):
        COMPARATOR = "comparator", "comparator"
        METRIC = "metric", "metric"
        IMPORTED = "imported", "imported judgments"
        PROGRAM = "program", "program"
        REWARD_MODEL = "reward model", "reward model"
        LANGUAGE_MODEL = "language model", "language model"
        JURY = "jury", "jury"
        MODEL_METRIC = "model metric", "metric with a model"

    # Settings that change nothing in what it says.
    FREE = ("budget", "price", "key", "timeout", "connections", "rate", "unjudged", "server")

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="judges")
    kind = models.CharField(max_length=20, choices=Kind)
    name = models.CharField(max_length=100, help_text="What pages, commands, signatures and the API call it.")
    version = models.ForeignKey(
        ComparatorVersion, models.RESTRICT, null=True, blank=True, related_name="judges", help_text="Of a comparator."
    )
    settings = models.JSONField(default=dict, blank=True, help_text="How it is asked; of a key, the variable's name alone.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of kind and settings, without what changes no answer.")
    calls = models.PositiveIntegerField(default=0, help_text="Requests that were sent to its server.")
    tokens_read = models.PositiveBigIntegerField(default=0)
    tokens_written = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="one_judge_per_name")]

    def __str__(self):
        return self.name

    @classmethod
    def digest_of(cls, kind: str, settings: dict) -> str:
        counted = {name: value for name, value in settings.items() if name not in cls.FREE}
        return hashlib.sha256(json.dumps([kind, counted], sort_keys=True).encode()).hexdigest()


class JudgePrompt(models.Model):
    """What language models are asked in a campaign: a file's text, kept under its name as it was. A name whose file changed has
    several rows, so that what was asked before can be read."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="judge_prompts")
    name = models.CharField(max_length=100)
    text = models.TextField(help_text="Markdown with named places (docs/judges/prompts.md).")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the text.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name", "digest"], name="one_judge_prompt_per_text")]

    def __str__(self):
        return self.name


class Reply(models.Model):
    """What a judge that costs something said, kept at once, so that nothing is asked twice: a language model's reply as it
    came, a program's numbers, a reward model's score."""

    judge = models.ForeignKey(Judge, models.CASCADE, related_name="replies")
    key = models.CharField(max_length=64, help_text="SHA-256 of the address and the whole request.")
    reply = models.JSONField()
    is_readable = models.BooleanField(default=True, help_text="False: kept to be looked at, and asked for again.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["judge", "key"], name="one_reply_per_question")]

    def __str__(self):
        return self.key[:12]


class AnchorSet(models.Model):
    """Pairs that people judged, drawn once, about which a language model is asked again to see whether it has changed."""

    judge = models.OneToOneField(Judge, models.CASCADE, related_name="anchor_set")
    snapshot = models.ForeignKey("annotation.Snapshot", models.CASCADE, related_name="anchor_sets")
    criterion = models.CharField(max_length=100, blank=True, help_text="Empty: the judgments of pairs.")
    seed = models.PositiveIntegerField(default=0)
    size = models.PositiveIntegerField(help_text="How many pairs are drawn, if people judged so many.")
    pairs = models.JSONField(
        default=list,
        blank=True,
        help_text="[[output, output], ...], each by context, system, checkpoint and sample; drawn when it is asked first.",
    )
    every_days = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="It is asked again by itself so many days after the last time; empty: never."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self):
        return f"anchor set of {self.judge}"


class AnchorAsking(models.Model):
    """One time that the pairs of an anchor set were asked about. The first one takes what the judge had said before."""

    anchor_set = models.ForeignKey(AnchorSet, models.CASCADE, related_name="askings")
    job = models.OneToOneField("annotation.Job", models.CASCADE, related_name="anchor_asking")
    choices = models.JSONField(null=True, blank=True, help_text="A, tie, B of each pair, or empty for unjudged.")
    used = models.JSONField(default=dict, blank=True, help_text="Calls, tokens, cost, prices, models that answered.")
    drift = models.JSONField(null=True, blank=True, help_text="metaevaluation.consistency.Drift, against the first time.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at", "id"]

    def __str__(self):
        return f"{self.anchor_set}, asked {self.created_at:%Y-%m-%d}"


class ImportedScore(models.Model):
    """What a judge elsewhere said of one output, on that judge's own scale."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="imported_scores")
    judge = models.ForeignKey(Judge, models.CASCADE, related_name="imported_scores")
    output = models.ForeignKey("annotation.Output", models.CASCADE, related_name="imported_scores")
    value = models.FloatField(help_text="Higher is better.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["output", "judge"], name="one_imported_score_per_judge")]
        indexes = [models.Index(fields=["campaign", "judge"], name="imported_scores_of_judge")]  # reading one judge's

    def __str__(self):
        return f"{self.judge}: {self.value:.3f}"


class ImportedPair(models.Model):
    """What a judge elsewhere said of two outputs of one context; of the two ids a is the smaller."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="imported_pairs")
    judge = models.ForeignKey(Judge, models.CASCADE, related_name="imported_pairs")
    output_a = models.ForeignKey("annotation.Output", models.CASCADE, related_name="+")
    output_b = models.ForeignKey("annotation.Output", models.CASCADE, related_name="+")
    p_a = models.FloatField(help_text="Probability that output a is better.")
    p_tie = models.FloatField()
    p_b = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["output_a", "output_b", "judge"], name="one_imported_pair_per_judge")]
        indexes = [models.Index(fields=["campaign", "judge"], name="imported_pairs_of_judge")]  # reading one judge's

    def __str__(self):
        return f"{self.judge}: {self.p_a:.2f}/{self.p_tie:.2f}/{self.p_b:.2f}"


class JudgesTable(models.Model):
    """All judges beside the people of one snapshot, worked out once for what they read (`judge_tables.key_of`)."""

    job = models.OneToOneField("annotation.Job", models.CASCADE, related_name="judges_table")
    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="judges_tables")
    snapshot = models.ForeignKey("annotation.Snapshot", models.CASCADE, related_name="judges_tables")
    criterion = models.CharField(max_length=100, blank=True, help_text="Empty: the first with scores.")
    annotators = models.CharField(max_length=10, help_text="What the people are: a key of the test's EPSILON.")
    seed = models.PositiveIntegerField(default=0)
    judges = models.JSONField(default=list, blank=True, help_text="Names of further judges, which are set up.")
    key = models.CharField(max_length=64, help_text="SHA-256 of what the judges read.")
    record = models.JSONField(null=True, blank=True, help_text="The judges beside people, and what it takes to get them again.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self):
        return f"judges of {self.campaign}, {self.key[:8]}"


class JudgedFile(models.Model):
    """A file of outputs or of pairs that workers judge (`worker.shared_files`). Its rows, and what was said of them, lie in
    UPLOADS_DIR under the job's id until somebody fetches them."""

    class Kind(models.TextChoices):
        SCORE = "score", "outputs"
        COMPARE = "compare", "pairs"

    job = models.OneToOneField("annotation.Job", models.CASCADE, related_name="judged_file")
    version = models.ForeignKey(ComparatorVersion, models.CASCADE, related_name="judged_files")
    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=200, help_text="The file's own.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self):
        return self.name

"""What is worked out about quality before anybody decides, and what a researcher says about single items."""

from django.db import models

from annotation.outcome import Outcome


class Calculation(models.Model):
    """Figures that take long, kept under a key made of everything they depend on. A new answer makes a new key; no
    decision is stored here, and a row that is lost is worked out again."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="calculations")
    what = models.CharField(max_length=30, help_text="Name of the function in annotation.assessment.calculations.FUNCTIONS.")
    key = models.CharField(max_length=64)
    settings = models.JSONField(default=dict)
    result = models.JSONField(null=True, help_text="Empty until the job is done.")
    job = models.OneToOneField("annotation.Job", models.SET_NULL, null=True, blank=True, related_name="calculation")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["campaign", "key"], name="one_calculation_per_key")]

    def __str__(self):
        return f"{self.what} of {self.campaign}"


class Adjudication(models.Model):
    """Which answers to believe where people disagree about one output on one criterion, or about one pair, on the whole
    or on a criterion."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="adjudications")
    criterion = models.ForeignKey(
        "annotation.Criterion",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="adjudications",
        help_text="Empty for a pair judged on the whole.",
    )
    output = models.ForeignKey("annotation.Output", models.CASCADE, related_name="adjudications")
    other = models.ForeignKey("annotation.Output", models.CASCADE, null=True, blank=True, related_name="+")
    value = models.FloatField(null=True, blank=True, help_text="The score to believe; empty: all answers stand.")
    choice = models.CharField(max_length=3, blank=True, choices=[(o.value, o.value) for o in Outcome])
    reason = models.CharField(max_length=500)
    decided_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["criterion", "output"], condition=models.Q(other=None), name="one_adjudicated_score"
            ),
            models.UniqueConstraint(
                fields=["output", "other"], condition=models.Q(criterion=None), name="one_adjudicated_pair"
            ),
            models.UniqueConstraint(
                fields=["criterion", "output", "other"],
                condition=~models.Q(criterion=None) & ~models.Q(other=None),
                name="one_adjudicated_pair_per_criterion",
            ),
        ]

    def __str__(self):
        return f"{self.criterion or 'pair'} of {self.output}"


class AskedFor(models.Model):
    """What a question asks for, one truth or taste, where a researcher says otherwise than its kind."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="asked_for")
    criterion = models.ForeignKey(
        "annotation.Criterion",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty for pairs on the whole.",
    )
    on_pairs = models.BooleanField(default=False, help_text="Pairs judged on the criterion, not scores.")
    asks = models.CharField(max_length=5, choices=[("truth", "one truth"), ("taste", "taste")])
    reason = models.CharField(max_length=500)
    chosen_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["criterion", "on_pairs"], name="one_aim_per_criterion"),
            models.UniqueConstraint(
                fields=["campaign"], condition=models.Q(criterion=None), name="one_aim_of_pairs_per_campaign"
            ),
        ]

    def __str__(self):
        return f"{self.criterion or 'pairs'}: {self.asks}"


class DatasheetAnswer(models.Model):
    """What the researchers wrote to a question of the Human Evaluation Datasheet. A row each, and not one JSON field of the
    campaign, so that an answer follows its criterion when that is renamed, and is left over when it is deleted."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="datasheet_answers")
    number = models.CharField(max_length=10, help_text="Of the question, as HEDS 3.0 has it: 4.1.1.")
    criterion = models.ForeignKey("annotation.Criterion", models.SET_NULL, null=True, blank=True, related_name="+")
    about = models.CharField(max_length=100, blank=True, help_text="The criterion's name when it was written.")
    chosen = models.JSONField(default=list, help_text="Places of the chosen options, from 1.")
    text = models.TextField(blank=True)
    written_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    written_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "number", "criterion"], condition=~models.Q(criterion=None), name="one_answer_per_criterion"
            ),
            models.UniqueConstraint(
                fields=["campaign", "number"], condition=models.Q(criterion=None, about=""), name="one_answer_per_question"
            ),
        ]

    def __str__(self):
        return f"{self.number} {self.about}".strip()

"""Who signs in, who may do what in a campaign, and under which name somebody judges."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """An account. Admins have `is_staff`; researchers and annotators get their rights campaign by campaign."""

    may_create_campaigns = models.BooleanField("may create campaigns", default=False)

    @property
    def is_admin(self) -> bool:
        return self.is_active and self.is_staff


class Membership(models.Model):
    """A researcher of a campaign: sees its results, imports, assesses, trains."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="memberships")
    user = models.ForeignKey("annotation.User", models.CASCADE, related_name="memberships")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "user"], name="one_membership_per_user")]

    def __str__(self):
        return f"{self.user} in {self.campaign}"


class Annotator(models.Model):
    """Who judged, inside one campaign: a signed-in person, a name from an imported file, or a simulation."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="annotators")
    name = models.CharField(max_length=200, help_text="Pseudonym shown to researchers and written to exports.")
    user = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="annotators")
    is_simulated = models.BooleanField(default=False)
    invitation = models.ForeignKey("annotation.Invitation", models.SET_NULL, null=True, blank=True, related_name="annotators")
    source = models.JSONField(default=dict, blank=True, help_text="What a crowd platform sent with the link, as sent.")
    consent = models.ForeignKey("annotation.ConsentText", models.SET_NULL, null=True, blank=True, related_name="annotators")
    consented_at = models.DateTimeField(null=True, blank=True)
    has_qualified = models.BooleanField(null=True, help_text="Empty: not yet known, or there is no pass mark.")
    tally = models.JSONField(default=dict, editable=False, help_text="Their older assignments, counted: history.py.")
    withdrawn_at = models.DateTimeField(null=True, blank=True, help_text="From then on no answer of theirs counts.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="one_annotator_per_name"),
            models.UniqueConstraint(
                fields=["campaign", "user"], condition=models.Q(user__isnull=False), name="one_annotator_per_user"
            ),
        ]

    def __str__(self):
        return f"{self.name} (simulated)" if self.is_simulated else self.name


class ApiToken(models.Model):
    """A key with which a program acts for a user. Only its SHA-256 is kept: the key itself is shown once."""

    user = models.ForeignKey("annotation.User", models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100, help_text="What uses it, for the user.")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, blank=True, help_text="To the hour.")

    class Meta:
        ordering = ["-created_at"]

    def __str__(self):
        return f"{self.name} of {self.user}"

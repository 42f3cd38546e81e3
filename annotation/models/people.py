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

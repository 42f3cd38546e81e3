"""Who signs in, who may do what in a campaign, and under which name somebody judges."""

from datetime import timedelta

from django.contrib.auth.models import AbstractUser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.dispatch import Signal
from django.utils import timezone

TOKEN_LIFE = timedelta(days=90)


password_changed = Signal()  # of an account that was there before


class Scope(models.TextChoices):
    """What a token may do of what its user may do."""

    READ = "read", "read: view what your account can view"
    ANNOTATE = "annotate", "annotate: take part in campaigns and answer"
    RESEARCH = "research", "research: view and change the campaigns that you research"
    ADMIN = "admin", "admin: all of this, with an admin’s rights where you have them"


class User(AbstractUser):
    """An account. Admins have `is_staff`; researchers and annotators get their rights campaign by campaign."""

    may_create_campaigns = models.BooleanField("may create campaigns", default=False)
    totp_secret = models.CharField(
        max_length=255, blank=True, default="", editable=False, help_text="Base32, sealed under SECRET_KEY; empty: none."
    )
    totp_step = models.BigIntegerField(default=0, editable=False, help_text="Of the last code: each is good for once.")
    recovery_codes = models.JSONField(default=list, editable=False, help_text="The SHA-256 of each that is left.")
    oidc_subject = models.CharField(
        "identity at the sign-in provider",
        max_length=255,
        null=True,
        blank=True,
        unique=True,
        help_text="What the OpenID Connect provider calls this person (sub); empty: not signed in from there.",
    )
    acts_as_admin = True  # not where a token of theirs acts that may not

    def save(self, *args, **kwargs):
        """A new password ends what the old one's owner had made: every token goes, as every session does."""
        has_new_password, is_new = self._password is not None, self._state.adding  # type: ignore[attr-defined]
        super().save(*args, **kwargs)
        if has_new_password and not is_new:
            self.api_tokens.all().delete()
            password_changed.send(User, user=self)

    @property
    def is_admin(self) -> bool:
        return self.is_active and self.is_staff and self.acts_as_admin


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
    source = models.JSONField(default=dict, blank=True, help_text="What a crowd platform sent, as sent.")
    browser = models.CharField(
        max_length=32, blank=True, default="", help_text="Where a crowd platform's worker began; empty: the next one is kept."
    )
    consent = models.ForeignKey("annotation.ConsentText", models.SET_NULL, null=True, blank=True, related_name="annotators")
    consented_at = models.DateTimeField(null=True, blank=True)
    has_qualified = models.BooleanField(null=True, help_text="Empty: not yet known, or there is no pass mark.")
    tally = models.JSONField(default=dict, editable=False, help_text="Their older assignments, counted: history.py.")
    unread_replies = models.PositiveIntegerField(default=0, editable=False, help_text="To what they said of items.")
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

    @property
    def reads_replies(self) -> bool:
        """Somebody signs in as this annotator, unlike one of a file or an archive, one who withdrew, or one erased."""
        return self.user is not None and self.user.is_active and not self.withdrawn_at


def end_of_token():
    return timezone.now() + TOKEN_LIFE


def all_scopes() -> str:
    return " ".join(Scope)


class ApiToken(models.Model):
    """A key with which a program acts for a user. Only its SHA-256 is kept: the key itself is shown once."""

    user = models.ForeignKey("annotation.User", models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100, help_text="What uses it, for the user.")
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.CharField(max_length=60, default=all_scopes, help_text="With spaces between, as in RFC 6749, 3.3.")
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")
    expires_at = models.DateTimeField(default=end_of_token)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self):
        return f"{self.name} of {self.user}"

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= timezone.now()

    def allows(self, scope: str, only_reads: bool) -> bool:
        """May a request be made that belongs to this scope? One that only reads belongs to `read` as well."""
        own = self.scope_list
        return scope in own or Scope.ADMIN in own or (only_reads and Scope.READ in own)

    @property
    def scope_list(self) -> list[str]:
        return self.scopes.split()


class KeptResponse(models.Model):
    """What a request of the REST API with an Idempotency-Key was answered, to answer the same to the same request again."""

    user = models.ForeignKey("annotation.User", models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    path = models.CharField(max_length=500)
    digest = models.CharField(max_length=64, help_text="SHA-256 of what was sent.")
    status = models.PositiveSmallIntegerField()
    body = models.JSONField(encoder=DjangoJSONEncoder)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)  # by age they are deleted

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_response_per_key")]

    def __str__(self):
        return f"{self.path} for {self.user}"

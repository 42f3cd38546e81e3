"""How a campaign shows its boards, and what its systems were called before."""

from django.db import models


class BoardSettings(models.Model):
    """A campaign without a row has the defaults: for members only, and a new comparator plays at once."""

    campaign = models.OneToOneField("annotation.Campaign", models.CASCADE, related_name="board_settings")
    is_public = models.BooleanField("anyone may see the boards", default=False)
    plays_new = models.BooleanField("a new comparator plays a tournament at once", default=True)

    class Meta:
        verbose_name_plural = "board settings"

    def __str__(self):
        return f"boards of {self.campaign}"


class FormerName(models.Model):
    """A snapshot calls a system by the name it had then."""

    system = models.ForeignKey("annotation.System", models.CASCADE, related_name="former_names")
    name = models.CharField(max_length=200)
    changed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["changed_at"]

    def __str__(self):
        return f"{self.name}, now {self.system}"

"""What a campaign's systems were called before."""

from django.db import models


class FormerName(models.Model):
    """A snapshot calls a system by the name it had then."""

    system = models.ForeignKey("annotation.System", models.CASCADE, related_name="former_names")
    name = models.CharField(max_length=200)
    changed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["changed_at"]

    def __str__(self):
        return f"{self.name}, now {self.system}"

"""A file that a researcher brings in."""

import uuid
from pathlib import Path

from django.conf import settings
from django.db import models


class Upload(models.Model):
    """A file to import: its columns are named and every row is checked before anything of it is stored.

    The file lies in UPLOADS_DIR under the row's id until it is stored or thrown away.
    """

    OUTPUTS = "outputs"

    class State(models.TextChoices):
        NEW = "new", "not checked yet"
        CHECKING = "checking", "being checked"
        REFUSED = "refused", "has errors"
        FINE = "fine", "checked, not stored yet"
        STORING = "storing", "being stored"
        STORED = "stored", "imported"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="uploads")
    user = models.ForeignKey("annotation.User", models.SET_NULL, null=True, related_name="+")
    name = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    kind = models.CharField(max_length=20, help_text="Outputs, or what a kind of question calls its files.")
    columns = models.JSONField(default=dict, help_text="{field: the file's column}.")
    sample = models.JSONField(default=dict, help_text="Its columns and first rows {columns, rows}, once somebody looked.")
    human_systems = models.JSONField(default=list)
    options = models.JSONField(default=dict, help_text="What of {system, systems, keep_columns} `import_outputs` is told.")
    simulated = models.BooleanField("a program made these answers", default=False)
    state = models.CharField(max_length=10, choices=State, default=State.NEW)
    errors = models.JSONField(default=list, help_text="[[line, field, message], ...], the first ones.")
    error_count = models.PositiveIntegerField(default=0)
    result = models.JSONField(default=dict, help_text="What the check or the import found: rows, new.")
    job = models.ForeignKey("annotation.Job", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self):
        return self.name

    @property
    def path(self) -> Path:
        return settings.UPLOADS_DIR / str(self.pk)

    def error_entries(self) -> list[dict]:
        """The first ones. `errors` has [line, field, message, row, file] of each; those noted by older versions end earlier."""
        names = ("line", "field", "message", "row", "file")
        return [dict.fromkeys(names) | {"file": self.name} | dict(zip(names, error)) for error in self.errors]

    @property
    def is_busy(self) -> bool:
        """Is a worker at it, or to be?"""
        at_work = (self.State.NEW, self.State.CHECKING, self.State.STORING)  # new: its columns are being looked for
        return self.state in at_work and bool(self.job and not self.job.is_finished)

"""A finished tournament never changes: what is published under its address is what was found that day."""

from django.db import models

from core.errors import Refused


class Immutable(Refused):
    """Somebody tried to change what a finished tournament holds."""

    def __init__(self):
        super().__init__("A finished tournament never changes; play a new one.")


class TournamentQuerySet(models.QuerySet):
    def _open(self):
        if self.filter(finished_at__isnull=False).exists():
            raise Immutable
        return self

    def update(self, **fields):
        return super(TournamentQuerySet, self._open()).update(**fields)

    def delete(self):
        return super(TournamentQuerySet, self._open()).delete()


class ResultQuerySet(models.QuerySet):
    """Rows of a tournament: added while it is being recorded, then never touched. Only a whole campaign can go."""

    def update(self, **fields):
        raise Immutable

    def delete(self):
        raise Immutable

    def bulk_create(self, objs, *args, **kwargs):
        objs = list(objs)
        tournaments = self.model._meta.get_field("tournament").related_model.objects
        if tournaments.filter(pk__in={row.tournament_id for row in objs}, finished_at__isnull=False).exists():
            raise Immutable
        return super().bulk_create(objs, *args, **kwargs)


class Result(models.Model):
    """One row of what a tournament found."""

    objects = ResultQuerySet.as_manager()
    tournament: models.ForeignKey

    class Meta:
        abstract = True

    def save(self, *args, **kwargs):
        if not self._state.adding or self.tournament.finished_at:
            raise Immutable
        super().save(*args, **kwargs)

    def delete(self, *args, **kwargs):
        raise Immutable

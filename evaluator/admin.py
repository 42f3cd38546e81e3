"""Trained comparators and their runs, to look at. Nothing is changed here: a version is what it was trained as."""

from django.contrib import admin

from evaluator.models import ComparatorVersion, TrainingRun


class ReadOnly(admin.ModelAdmin):
    def has_add_permission(self, request):
        return False

    def has_change_permission(self, request, obj=None):
        return False

    def has_delete_permission(self, request, obj=None):
        return False


@admin.register(TrainingRun)
class TrainingRunAdmin(ReadOnly):
    list_display = ["id", "job", "criterion", "seed", "created_at"]
    list_select_related = ["job"]


@admin.register(ComparatorVersion)
class ComparatorVersionAdmin(ReadOnly):
    list_display = ["name", "criterion", "seed", "code", "is_simulated", "created_at"]

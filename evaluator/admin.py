"""Trained comparators and their runs, to look at. Nothing is changed here: a version is what it was trained as."""

from django.contrib import admin, messages

from core.errors import Refused
from evaluator.models import ComparatorVersion, RetrainingRule, TrainingRun
from evaluator.trainings import services
from evaluator.versions import registry


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
    actions = ["retrain"]

    def has_run_permission(self, request):
        return request.user.is_admin

    @admin.action(description="Train again with the same settings, on the newest snapshots", permissions=["run"])
    def retrain(self, request, queryset):
        for run in queryset:
            try:
                again = services.retrain(run, request.user)
            except Refused as refused:
                self.message_user(request, f"Training {run.pk}: {refused}", messages.WARNING)
            else:
                if again.was_waiting:
                    self.message_user(request, f"Training {run.pk}: the same is already queued or running ({again.pk}).")
                    continue
                self.message_user(request, f"Training {run.pk} is started again as training {again.pk}.")


@admin.register(RetrainingRule)
class RetrainingRuleAdmin(ReadOnly):
    list_display = ["campaign", "after_days", "after_judgments", "user", "refused"]
    list_select_related = ["campaign", "user"]


@admin.register(ComparatorVersion)
class ComparatorVersionAdmin(ReadOnly):
    list_display = ["name", "criterion", "seed", "code", "is_simulated", "created_at"]
    actions = ["promote"]

    def has_run_permission(self, request):
        return request.user.is_admin

    @admin.action(description="Promote these versions in their campaigns, or roll back to them", permissions=["run"])
    def promote(self, request, queryset):
        for version in queryset:
            for campaign in version.campaigns.filter(deleted_at=None):
                try:
                    registry.promote(campaign, version, request.user)
                except Refused as refused:
                    self.message_user(request, f"{campaign.slug}: {refused}", messages.WARNING)
                else:
                    self.message_user(request, f"Comparator {version.name} is now in use in {campaign.slug}.")

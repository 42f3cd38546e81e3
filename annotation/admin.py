"""Django's admin: accounts and settings can be changed here; people's answers can only be viewed."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.urls import reverse
from django.utils.html import format_html

from annotation import jobs, models
from annotation.campaigns import lifecycle
from annotation.people import second_factor
from annotation.questions import store
from annotation.templatetags.texts import detail_in_words

admin.site.unregister(Group)  # nobody has rights by groups


class UndeletableAdmin(admin.ModelAdmin):
    """An admin page without deletion."""

    def has_delete_permission(self, request, obj=None):
        return False


class ReadOnlyAdmin(UndeletableAdmin):
    """An admin page for viewing only: the services write these rows."""

    def has_add_permission(self, request):
        return False

    def has_change_permission(self, request, obj=None):
        return False


@admin.register(models.User)
class AccountAdmin(UndeletableAdmin, UserAdmin):
    list_display = ["username", "email", "is_staff", "may_create_campaigns", "is_active", "last_login", "personal_data"]
    fieldsets = [*(UserAdmin.fieldsets or ()), ("Comparena", {"fields": ["may_create_campaigns", "oidc_subject"]})]
    actions = ["turn_off_second_factor"]

    @admin.display(description="personal data")
    def personal_data(self, user):
        return format_html('<a href="{}">export or erase</a>', reverse("person", args=[user.pk]))

    @admin.action(description="Turn the second factor off, for who lost their phone", permissions=["change"])
    def turn_off_second_factor(self, request, queryset):
        for user in queryset.exclude(totp_secret=""):
            second_factor.turn_off(user)
        self.message_user(request, "They sign in with their passwords alone, until they set up another.")


class CriterionInline(admin.TabularInline):
    model = models.Criterion
    extra = 0
    can_delete = False


class MembershipInline(admin.TabularInline):
    model = models.Membership
    extra = 0
    raw_id_fields = ["user"]


@admin.register(models.Campaign)
class CampaignAdmin(UndeletableAdmin):
    list_display = ["title", "slug", "status", "is_simulated", "created_at", "deleted_at"]
    list_filter = ["status", "is_simulated", ("deleted_at", admin.EmptyFieldListFilter)]
    search_fields = ["title", "slug"]
    raw_id_fields = ["created_by"]
    inlines = [CriterionInline, MembershipInline]
    actions = ["restore"]

    @admin.action(description="Restore deleted campaigns")
    def restore(self, request, queryset):
        for campaign in queryset:
            lifecycle.restore_campaign(campaign, request.user)


@admin.register(models.Annotator)
class AnnotatorAdmin(UndeletableAdmin):
    list_display = ["name", "campaign", "user", "is_simulated", "created_at"]
    list_filter = ["campaign", "is_simulated"]
    list_select_related = ["campaign", "user"]
    search_fields = ["name"]
    raw_id_fields = ["campaign", "user"]


@admin.register(models.Invitation)
class InvitationAdmin(UndeletableAdmin):
    list_display = ["campaign", "cap", "uses", "created_by", "created_at"]
    list_select_related = ["campaign", "created_by"]
    readonly_fields = ["token", "uses"]
    raw_id_fields = ["campaign", "created_by"]


@admin.register(models.System)
class SystemAdmin(UndeletableAdmin):
    list_display = ["name", "campaign", "is_human"]
    list_filter = ["campaign", "is_human"]
    list_select_related = ["campaign"]
    raw_id_fields = ["campaign"]


@admin.register(models.Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "annotator", "seconds", "is_surplus", "retracted_at"]
    list_filter = ["is_surplus", "annotator__campaign"]
    list_select_related = ["annotator"]


class AnswerAdmin(ReadOnlyAdmin):
    """People's answers to any kind of question."""

    list_display = ["__str__", "criterion", "annotator", "cannot_say", "created_at", "retracted_at"]
    list_filter = ["annotator__campaign", "cannot_say"]
    list_select_related = ["criterion", "annotator"]


admin.site.register(list(store.TABLES.values()), AnswerAdmin)


@admin.register(models.Snapshot)
class SnapshotAdmin(ReadOnlyAdmin):
    list_display = ["name", "campaign", "scores", "judgments", "is_simulated", "created_by", "created_at", "accepted_at"]
    list_select_related = ["campaign", "created_by"]
    exclude = ["content"]


@admin.register(models.QualityDecision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ["snapshot", "criterion", "verdict", "overruled_by"]
    list_select_related = ["snapshot", "criterion", "overruled_by"]


@admin.register(models.Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ["title", "campaign", "status", "progress", "attempts", "created_at", "finished_at", "request_id"]
    list_filter = ["status"]
    list_select_related = ["campaign"]
    actions = ["cancel", "retry"]

    def has_run_permission(self, request):
        return request.user.is_admin

    @admin.action(description="Cancel these jobs", permissions=["run"])
    def cancel(self, request, queryset):
        for job in queryset:
            jobs.cancel(job)
        self.message_user(request, "Running jobs were asked to stop. Waiting jobs are cancelled.")

    @admin.action(description="Start failed or cancelled jobs again", permissions=["run"])
    def retry(self, request, queryset):
        started = sum(jobs.retry(job) for job in queryset)
        self.message_user(request, f"Started again: {started} of {len(queryset)}.")


@admin.register(models.AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "action", "user", "subject", "campaign", "what", "request_id"]
    list_filter = ["action", "campaign"]
    list_select_related = ["campaign", "user", "subject"]
    search_fields = ["action", "user__username", "subject__username", "campaign__slug", "detail", "request_id"]
    date_hierarchy = "created_at"
    show_full_result_count = False

    @admin.display(description="detail")
    def what(self, event):
        return detail_in_words(event)[:200]


admin.site.register(models.WorkerPulse, ReadOnlyAdmin)
admin.site.site_header = "Comparena"
admin.site.site_title = "Comparena"
admin.site.index_title = "Accounts and records"

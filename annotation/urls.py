from django.contrib.auth import views as auth
from django.urls import include, path

from annotation.views import jobs
from annotation.views.annotating import item, own_answers, participation
from annotation.views.assessment import agreement, disagreement, live, report, snapshots
from annotation.views.campaigns import campaign, design, home, items, plan, preview
from annotation.views.data import exports, uploads
from annotation.views.people import account, first_admin, join, members, sign_in

campaign_pages = [
    path("", campaign.campaign, name="campaign"),
    path("status/", design.status, name="campaign_status"),
    path("design/", design.design, name="design"),
    path("plan/", plan.plan_page, name="plan"),
    path("preview/", preview.preview, name="preview"),
    path("duplicate/", design.duplicate, name="duplicate"),
    path("delete/", design.delete, name="delete"),
    path("guidelines/", campaign.guidelines, name="guidelines"),
    path("annotate/", item.annotate, name="annotate"),
    path("undo/", item.undo, name="undo"),
    path("skip/", item.skip, name="skip"),
    path("flag/", item.flag, name="flag"),
    path("feedback/<uuid:key>/", item.feedback, name="feedback"),
    path("answers/", own_answers.answers, name="answers"),
    path("answers/<int:pk>/", own_answers.answer, name="answer"),
    path("consent/", participation.consent, name="consent"),
    path("withdraw/", participation.withdraw, name="withdraw"),
    path("elsewhere/", participation.elsewhere, name="elsewhere"),
    path("import/", uploads.import_data, name="import_data"),
    path("import/<uuid:pk>/", uploads.upload, name="upload"),
    path("import/<uuid:pk>/store/", uploads.store, name="upload_store"),
    path("import/<uuid:pk>/discard/", uploads.discard, name="upload_discard"),
    path("export/<slug:what>.<slug:format>", exports.export, name="export"),
    path("progress/", live.progress, name="live"),
    path("progress/answers/", live.answer_list, name="answer_list"),
    path("items/", items.item_list, name="items"),
    path("items/<int:pk>/", items.item, name="item"),
    path("items/<int:pk>/unmark/", items.unmark, name="unmark"),
    path("reports/<int:pk>/resolve/", items.resolve, name="resolve"),
    path("people/", members.people, name="people"),
    path("people/links/<int:pk>/revoke/", members.revoke, name="revoke"),
    path("people/annotators/<int:pk>/release/", members.release, name="release_worker"),
    path("people/researchers/<int:pk>/remove/", members.remove_researcher, name="remove_researcher"),
    path("quality/", agreement.quality, name="quality"),
    path("quality/preview/", agreement.preview, name="quality_preview"),
    path("quality/annotators/", agreement.annotators, name="quality_annotators"),
    path("quality/disagreement/", disagreement.disagreement, name="quality_disagreement"),
    path("quality/disagreement/settle/", disagreement.settle, name="quality_settle"),
    path("quality/study/", disagreement.study, name="quality_study"),
    path("quality/report/", report.report, name="quality_report"),
    path("quality/report.<slug:format>", report.download, name="quality_report_file"),
    path("decisions/<int:pk>/overrule/", agreement.overrule, name="overrule"),
    path("snapshots/<slug:digest>/", snapshots.snapshot, name="snapshot"),
    path("snapshots/<slug:digest>/difference/", snapshots.snapshot_difference, name="snapshot_difference"),
    path("snapshots/<slug:digest>/<slug:what>.<slug:format>", exports.snapshot_export, name="snapshot_export"),
    path("snapshots/<slug:digest>.jsonl", exports.snapshot_file, name="snapshot_file"),
]

urlpatterns = [
    path("", home.home, name="home"),
    path("first/", first_admin.make, name="first_admin"),
    path("admin/login/", sign_in.admin_log_in),
    path("login/", sign_in.SignIn.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("leave/", participation.leave, name="leave"),
    path("password/", sign_in.ChangePassword.as_view(), name="password_change"),
    path("password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("account/", account.account, name="account"),
    path("account/tokens/<int:pk>/revoke/", account.revoke_token, name="revoke_token"),
    path("new/", design.new, name="campaign_new"),
    path("join/<str:token>/", join.join, name="join"),
    path("resume/<str:token>/", participation.resume, name="resume"),
    path("jobs/<uuid:pk>/", jobs.state, name="job"),
    path("jobs/<uuid:pk>/cancel/", jobs.cancel, name="job_cancel"),
    path("jobs/<uuid:pk>/retry/", jobs.retry, name="job_retry"),
    path("c/<slug:slug>/", include(campaign_pages)),
    path("api/", include("annotation.api.urls")),
]

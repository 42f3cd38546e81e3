from django.contrib.auth import views as auth
from django.urls import include, path
from rest_framework.routers import SimpleRouter

from annotation.api import CampaignViewSet
from annotation.views import (
    annotate,
    answers,
    campaigns,
    data,
    designing,
    home,
    items,
    jobs,
    join,
    live,
    people,
    quality,
    sign_in,
    snapshots,
    taking_part,
    uploads,
)

api = SimpleRouter()
api.register("campaigns", CampaignViewSet, basename="api_campaign")

campaign = [
    path("", campaigns.campaign, name="campaign"),
    path("status/", designing.status, name="campaign_status"),
    path("design/", designing.design, name="design"),
    path("duplicate/", designing.duplicate, name="duplicate"),
    path("delete/", designing.delete, name="delete"),
    path("guidelines/", campaigns.guidelines, name="guidelines"),
    path("annotate/", annotate.annotate, name="annotate"),
    path("undo/", annotate.undo, name="undo"),
    path("skip/", annotate.skip, name="skip"),
    path("flag/", annotate.flag, name="flag"),
    path("feedback/<uuid:key>/", annotate.feedback, name="feedback"),
    path("answers/", answers.answers, name="answers"),
    path("answers/<int:pk>/", answers.answer, name="answer"),
    path("consent/", taking_part.consent, name="consent"),
    path("withdraw/", taking_part.withdraw, name="withdraw"),
    path("elsewhere/", taking_part.elsewhere, name="elsewhere"),
    path("import/", uploads.import_data, name="import_data"),
    path("import/<uuid:pk>/", uploads.upload, name="upload"),
    path("import/<uuid:pk>/store/", uploads.store, name="upload_store"),
    path("import/<uuid:pk>/discard/", uploads.discard, name="upload_discard"),
    path("export/<slug:what>.<slug:format>", data.export, name="export"),
    path("progress/", live.progress, name="live"),
    path("progress/answers/", live.answer_list, name="answer_list"),
    path("items/", items.item_list, name="items"),
    path("items/<int:pk>/", items.item, name="item"),
    path("items/<int:pk>/unmark/", items.unmark, name="unmark"),
    path("reports/<int:pk>/resolve/", items.resolve, name="resolve"),
    path("people/", people.people, name="people"),
    path("people/links/<int:pk>/revoke/", people.revoke, name="revoke"),
    path("people/researchers/<int:pk>/remove/", people.remove_researcher, name="remove_researcher"),
    path("quality/", quality.quality, name="quality"),
    path("quality/preview/", quality.preview, name="quality_preview"),
    path("quality/annotators/", quality.annotators, name="quality_annotators"),
    path("decisions/<int:pk>/overrule/", quality.overrule, name="overrule"),
    path("snapshots/<slug:digest>/", snapshots.snapshot, name="snapshot"),
    path("snapshots/<slug:digest>/difference/", snapshots.snapshot_difference, name="snapshot_difference"),
    path("snapshots/<slug:digest>.jsonl", data.snapshot_file, name="snapshot_file"),
]

urlpatterns = [
    path("", home.home, name="home"),
    path("login/", sign_in.SignIn.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("password/", auth.PasswordChangeView.as_view(), name="password_change"),
    path("password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("new/", designing.new, name="campaign_new"),
    path("join/<str:token>/", join.join, name="join"),
    path("resume/<str:token>/", taking_part.resume, name="resume"),
    path("jobs/<uuid:pk>/", jobs.state, name="job"),
    path("jobs/<uuid:pk>/cancel/", jobs.cancel, name="job_cancel"),
    path("jobs/<uuid:pk>/retry/", jobs.retry, name="job_retry"),
    path("c/<slug:slug>/", include(campaign)),
    path("api/", include(api.urls)),
]

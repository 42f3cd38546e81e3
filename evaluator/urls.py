from django.urls import include, path, re_path

from evaluator import api
from evaluator.views import api_actions, card, comparators, judges

comparator = [
    path("", comparators.comparator, name="comparator"),
    path("upload/", card.upload, name="comparator_upload"),
    path("dialogues/", card.import_dialogues, name="dialogues_import"),
    path("judges/", judges.judges, name="judges"),
    re_path(r"^judges/table\.(?P<kind>csv|tex)$", judges.judges_file, name="judges_file"),
    path("<slug:name>/", card.card, name="comparator_card"),
    path("<slug:name>/promote/", card.promote, name="comparator_promote"),
    path("<slug:name>/retire/", card.retire, name="comparator_retire"),
    path("<slug:name>/download/", card.download, name="comparator_download"),
]

urlpatterns = [
    path("c/<slug:slug>/comparator/", include(comparator)),
    path("api/campaigns/<slug:slug>/comparators/", api.ComparatorsView.as_view(), name="api_comparators"),
    path("api/campaigns/<slug:slug>/comparators/upload/", api_actions.ComparatorUploadView.as_view(), name="api_upload"),
    path("api/campaigns/<slug:slug>/comparators/<slug:name>/", api.CardView.as_view(), name="api_card"),
    path("api/campaigns/<slug:slug>/comparators/<slug:name>/promote/", api_actions.PromoteView.as_view(), name="api_promote"),
    path("api/campaigns/<slug:slug>/comparators/<slug:name>/retire/", api_actions.RetireView.as_view(), name="api_retire"),
    path("api/campaigns/<slug:slug>/comparators/<slug:name>/file/", api_actions.ComparatorFileView.as_view(), name="api_file"),
    path("api/campaigns/<slug:slug>/trainings/", api_actions.TrainingsView.as_view(), name="api_trainings"),
    path("api/campaigns/<slug:slug>/import/dialogues/", api_actions.DialoguesView.as_view(), name="api_dialogues"),
    path("api/campaigns/<slug:slug>/import/judge-scores/", api_actions.JudgeScoresView.as_view(), name="api_judge_scores"),
    path("api/campaigns/<slug:slug>/judges/", api_actions.JudgesView.as_view(), name="api_judges"),
    re_path(
        r"^api/campaigns/(?P<slug>[-\w]+)/judges/table/(?P<kind>csv|tex)/$",
        api_actions.JudgesFileView.as_view(),
        name="api_judges_file",
    ),
]

from django.urls import include, path, re_path

from evaluator.api import actions, cards
from evaluator.api import judges as judges_api
from evaluator.views import card, comparators, endpoints, judges

comparator = [
    path("", comparators.comparator, name="comparator"),
    path("upload/", card.upload, name="comparator_upload"),
    path("dialogues/", card.import_dialogues, name="dialogues_import"),
    path("retraining/", comparators.retraining, name="retraining"),
    path("judges/", judges.judges, name="judges"),
    path("judges/<slug:key>/", judges.judge, name="judge"),
    path("judges/<slug:key>/again/", judges.ask_again, name="judge_again"),
    re_path(r"^judges/table\.(?P<kind>csv|tex)$", judges.judges_file, name="judges_file"),
    path("<slug:name>/", card.card, name="comparator_card"),
    path("<slug:name>/promote/", card.promote, name="comparator_promote"),
    path("<slug:name>/retire/", card.retire, name="comparator_retire"),
    path("<slug:name>/download/", card.download, name="comparator_download"),
]

urlpatterns = [
    path("endpoints/", endpoints.endpoints, name="endpoints"),
    path("c/<slug:slug>/comparator/", include(comparator)),
    path("api/campaigns/<slug:slug>/comparators/", cards.ComparatorsView.as_view(), name="api_comparators"),
    path("api/campaigns/<slug:slug>/comparators/upload/", actions.ComparatorUploadView.as_view(), name="api_upload"),
    path("api/campaigns/<slug:slug>/comparators/<slug:name>/", cards.CardView.as_view(), name="api_card"),
    path("api/campaigns/<slug:slug>/comparators/<slug:name>/promote/", actions.PromoteView.as_view(), name="api_promote"),
    path("api/campaigns/<slug:slug>/comparators/<slug:name>/retire/", actions.RetireView.as_view(), name="api_retire"),
    path("api/campaigns/<slug:slug>/comparators/<slug:name>/file/", actions.ComparatorFileView.as_view(), name="api_file"),
    path("api/campaigns/<slug:slug>/trainings/", actions.TrainingsView.as_view(), name="api_trainings"),
    path("api/campaigns/<slug:slug>/retraining/", actions.RetrainingView.as_view(), name="api_retraining"),
    path("api/campaigns/<slug:slug>/import/dialogues/", actions.DialoguesView.as_view(), name="api_dialogues"),
    path("api/campaigns/<slug:slug>/import/judge-scores/", actions.JudgeScoresView.as_view(), name="api_judge_scores"),
    path("api/campaigns/<slug:slug>/judges/", judges_api.JudgesView.as_view(), name="api_judges"),
    path("api/campaigns/<slug:slug>/judges/models/", judges_api.ModelsView.as_view(), name="api_models"),
    path("api/campaigns/<slug:slug>/judges/again/", judges_api.AskAgainView.as_view(), name="api_ask_again"),
    path("api/campaigns/<slug:slug>/judges/juries/", judges_api.JuriesView.as_view(), name="api_juries"),
    re_path(
        r"^api/campaigns/(?P<slug>[-\w]+)/judges/table/(?P<kind>csv|tex)/$",
        judges_api.JudgesFileView.as_view(),
        name="api_judges_file",
    ),
]

from django.urls import include, path, re_path

from evaluator import api
from evaluator.views import card, comparators, judges

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
    path("api/campaigns/<slug:slug>/comparators/<slug:name>/", api.CardView.as_view(), name="api_card"),
]

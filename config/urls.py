from django.contrib import admin
from django.urls import include, path

from annotation.api.errors import missing

urlpatterns = [
    path("", include("annotation.urls")),
    path("admin/", admin.site.urls),
    path("", include("evaluator.urls")),
    path("", include("leaderboard.urls")),
    path("api/<path:rest>", missing),
]

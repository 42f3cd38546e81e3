from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path, re_path
from django.views.i18n import set_language

from annotation.api.errors import missing

handler400, handler500 = "config.errors.bad_request", "config.errors.server_error"
urlpatterns = [
    path("language/", login_not_required(set_language), name="set_language"),
    path("", include("annotation.urls")),
    path("admin/", admin.site.urls),
    path("", include("evaluator.urls")),
    path("", include("leaderboard.urls")),
    re_path(r"^api/(?P<rest>(?s:.*))", missing),  # a line break in it too
]

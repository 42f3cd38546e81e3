from django.urls import include, path
from rest_framework.routers import SimpleRouter

from annotation.api.annotating import JoinView, TaskViewSet
from annotation.api.campaigns import CampaignViewSet, JobViewSet
from annotation.api.reference import reference
from annotation.api.schema import SchemaView

router = SimpleRouter()
router.register("campaigns", CampaignViewSet, basename="api_campaign")
router.register("tasks", TaskViewSet, basename="api_task")
router.register("jobs", JobViewSet, basename="api_job")

urlpatterns = [
    path("", reference, name="api"),
    path("schema/", SchemaView.as_view(), name="api_schema"),
    path("join/<str:token>/", JoinView.as_view(), name="api_join"),
    path("", include(router.urls)),
]

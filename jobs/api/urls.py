from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.routers import SimpleRouter

from jobs.api import errors
from jobs.api.cluster import ExamplesView, OverviewView, TaskManagerViewSet
from jobs.api.jobs import JobViewSet

app_name = "api"

router = SimpleRouter()
router.register("jobs", JobViewSet, basename="job")
router.register("taskmanagers", TaskManagerViewSet, basename="taskmanager")

urlpatterns = [
    path("overview/", OverviewView.as_view(), name="overview"),
    path("examples/", ExamplesView.as_view(), name="examples"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="api:schema"), name="docs"),
    *router.urls,
    re_path(r".*/$", errors.unknown),
]

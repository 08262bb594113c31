from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.routers import SimpleRouter

from jobs.api import errors
from jobs.api.alerts import AlertViewSet, ChannelViewSet, DeliveryViewSet, RuleViewSet
from jobs.api.cluster import ExamplesView, OverviewView, TaskManagerViewSet
from jobs.api.jobs import JobViewSet
from jobs.api.savepoints import JobSavepoints, SavepointViewSet
from jobs.api.schedules import ScheduleViewSet
from jobs.api.versions import JobRescale, JobUpgrade, JobUpgrades, JobVersions, VersionDifference

app_name = "api"

router = SimpleRouter()
router.register("jobs", JobViewSet, basename="job")
router.register("alerts/rules", RuleViewSet, basename="alert-rule")
router.register("alerts/channels", ChannelViewSet, basename="alert-channel")
router.register("alerts/deliveries", DeliveryViewSet, basename="alert-delivery")
router.register("alerts", AlertViewSet, basename="alert")
router.register("savepoints", SavepointViewSet, basename="savepoint")
router.register("schedules", ScheduleViewSet, basename="schedule")
router.register("taskmanagers", TaskManagerViewSet, basename="taskmanager")

_JOB = r"^jobs/(?P<job_id>[0-9a-f]{32})"

urlpatterns = [
    re_path(rf"{_JOB}/savepoints/$", JobSavepoints.as_view()),
    re_path(rf"{_JOB}/versions/$", JobVersions.as_view()),
    re_path(rf"{_JOB}/versions/difference/$", VersionDifference.as_view()),
    re_path(rf"{_JOB}/upgrades/$", JobUpgrades.as_view()),
    re_path(rf"{_JOB}/upgrades/(?P<pk>[0-9]+)/$", JobUpgrade.as_view()),
    re_path(rf"{_JOB}/rescale/$", JobRescale.as_view()),
    path("overview/", OverviewView.as_view(), name="overview"),
    path("examples/", ExamplesView.as_view(), name="examples"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="api:schema"), name="docs"),
    *router.urls,
    re_path(r".*/$", errors.unknown),
]

from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.routers import SimpleRouter

from jobs.api import errors
from jobs.api.alerts import AlertViewSet, ChannelViewSet, DeliveryViewSet, RuleViewSet
from jobs.api.audits import AuditViewSet
from jobs.api.cluster import ExamplesView, OverviewView, TaskManagerViewSet
from jobs.api.jobs import JobViewSet
from jobs.api.measures import FiguresView, HistoryView, LagView
from jobs.api.people import MembershipViewSet, MeView, TeamViewSet, TokenViewSet
from jobs.api.savepoints import JobSavepoints, SavepointViewSet
from jobs.api.schedules import ScheduleViewSet
from jobs.api.secrets_of_jobs import SecretViewSet
from jobs.api.versions import JobRescale, JobUpgrade, JobUpgrades, JobVersions, VersionDifference

app_name = "api"

router = SimpleRouter()
router.register("jobs", JobViewSet, basename="job")
router.register("alerts/rules", RuleViewSet, basename="alert-rule")
router.register("alerts/channels", ChannelViewSet, basename="alert-channel")
router.register("alerts/deliveries", DeliveryViewSet, basename="alert-delivery")
router.register("alerts", AlertViewSet, basename="alert")
router.register("audit", AuditViewSet, basename="audit")
router.register("memberships", MembershipViewSet, basename="membership")
router.register("secrets", SecretViewSet, basename="secret")
router.register("teams", TeamViewSet, basename="team")
router.register("tokens", TokenViewSet, basename="token")
router.register("savepoints", SavepointViewSet, basename="savepoint")
router.register("schedules", ScheduleViewSet, basename="schedule")
router.register("taskmanagers", TaskManagerViewSet, basename="taskmanager")

_JOB = r"^jobs/(?P<job_id>[0-9a-f]{32})"

urlpatterns = [
    re_path(rf"{_JOB}/figures/$", FiguresView.as_view(), name="job-figures"),
    re_path(rf"{_JOB}/history/$", HistoryView.as_view(), name="job-history"),
    re_path(rf"{_JOB}/lag/$", LagView.as_view(), name="job-lag"),
    re_path(rf"{_JOB}/savepoints/$", JobSavepoints.as_view(), name="job-savepoint"),
    re_path(rf"{_JOB}/versions/$", JobVersions.as_view(), name="job-versions"),
    re_path(
        rf"{_JOB}/versions/difference/$", VersionDifference.as_view(), name="version-difference"
    ),
    re_path(rf"{_JOB}/upgrades/$", JobUpgrades.as_view(), name="job-upgrade"),
    re_path(
        rf"{_JOB}/upgrades/(?P<pk>[0-9]{{1,18}})/$", JobUpgrade.as_view(), name="upgrade-detail"
    ),
    re_path(rf"{_JOB}/rescale/$", JobRescale.as_view(), name="job-rescale"),
    path("me/", MeView.as_view(), name="me"),
    path("overview/", OverviewView.as_view(), name="overview"),
    path("examples/", ExamplesView.as_view(), name="examples"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="api:schema"), name="docs"),
    *router.urls,
    re_path(r".*/$", errors.unknown),
]

"""Every address of the web process."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path, re_path

from dashboard import access
from jobs import logins, oidc
from jobs.exports.views import MetricsView
from jobs.flink import bundle
from jobs.flink import urls as flink

urlpatterns = [
    path("login/", access.strict(logins.LoginView.as_view()), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("oidc/login/", oidc.begin, name="oidc-login"),
    path("oidc/callback/", oidc.callback, name="oidc-callback"),
    path("admin/login/", logins.at_the_console),
    path("admin/", admin.site.urls),
    path("api/", include("jobs.api.urls")),
    path("metrics", MetricsView.as_view(), name="metrics"),
    path("v1/", include(flink.prefixed)),
    path("flink/", include("jobs.flink.urls")),
    re_path(r"^flink/(?P<path>.*)$", bundle.file, name="flink-dashboard"),
    path("", include("jobs.flink.urls")),
    path("", include("dashboard.urls")),
]

"""Every address of the web process."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from jobs.flink import urls as flink

urlpatterns = [
    path("login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("api/", include("jobs.api.urls")),
    path("", include("jobs.api.flink_savepoints")),
    path("", include("jobs.api.flink_checkpoints")),
    path("v1/", include(flink.prefixed)),
    path("", include("jobs.flink.urls")),
    path("", include("dashboard.urls")),
]

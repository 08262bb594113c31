"""Addresses of the pages that are not of one job."""

from __future__ import annotations

from django.urls import path

from dashboard.views import (
    account,
    alerts,
    all_savepoints,
    audit,
    jobmanager,
    jobs,
    live,
    overview,
    schedules,
    submit,
    taskmanagers,
    teams,
)

urlpatterns = [
    path("", overview.show, name="overview"),
    path("live/<slug:name>/", live.stream, name="live"),
    path("jobs/", jobs.show, name="jobs"),
    path("jobs/act/", jobs.act, name="jobs-act"),
    path("submit/", submit.show, name="submit"),
    path("submit/<str:program>/delete/", submit.delete, name="submit-delete"),
    path("savepoints/", all_savepoints.show, name="savepoints"),
    path(
        "savepoints/<str:savepoint_id>/dispose/", all_savepoints.dispose, name="savepoints-dispose"
    ),
    path("schedules/", schedules.show_all, name="schedules"),
    path("schedules/<str:schedule_id>/", schedules.show, name="schedules-one"),
    path("schedules/<str:schedule_id>/<slug:verb>/", schedules.act, name="schedules-act"),
    path("taskmanagers/", taskmanagers.show_all, name="taskmanagers"),
    path("taskmanagers/<str:name>/", taskmanagers.show, name="taskmanagers-one"),
    path("taskmanagers/<str:name>/act/<slug:verb>/", taskmanagers.act, name="taskmanagers-act"),
    path("jobmanager/", jobmanager.show, name="jobmanager"),
    path("jobmanager/configuration/", jobmanager.configuration, name="jobmanager-configuration"),
    path("jobmanager/environment/", jobmanager.show_environment, name="jobmanager-environment"),
    path("alerts/", alerts.show, name="alerts"),
    path("alerts/rules/", alerts.rules, name="alerts-rules"),
    path("alerts/rules/new/", alerts.edit_rule, name="alerts-rule-new"),
    path("alerts/rules/<int:pk>/", alerts.edit_rule, name="alerts-rule"),
    path("alerts/rules/<int:pk>/<slug:verb>/", alerts.act_rule, name="alerts-rule-act"),
    path("alerts/channels/", alerts.channels, name="alerts-channels"),
    path("alerts/channels/new/", alerts.edit_channel, name="alerts-channel-new"),
    path("alerts/channels/<int:pk>/", alerts.edit_channel, name="alerts-channel"),
    path("alerts/channels/<int:pk>/<slug:verb>/", alerts.act_channel, name="alerts-channel-act"),
    path("alerts/deliveries/", alerts.deliveries, name="alerts-deliveries"),
    path("audit/", audit.show, name="audit"),
    path("audit/export/", audit.export, name="audit-export"),
    path("account/", account.show, name="account"),
    path("account/tokens/", account.create_token, name="account-token-new"),
    path("account/tokens/<int:pk>/revoke/", account.revoke_token, name="account-token-revoke"),
    path("account/sessions/<int:pk>/end/", account.end_session, name="account-session-end"),
    path("account/sessions/end/", account.end_other_sessions, name="account-sessions-end"),
    path("account/password/", account.password, name="account-password"),
    path("teams/", teams.show_all, name="teams"),
    path("teams/new/", teams.edit, name="teams-new"),
    path("teams/roles/", teams.give, name="teams-cluster-give"),
    path("teams/<int:pk>/", teams.show, name="teams-one"),
    path("teams/<int:pk>/edit/", teams.edit, name="teams-edit"),
    path("teams/<int:pk>/delete/", teams.delete, name="teams-delete"),
    path("teams/<int:pk>/members/", teams.give, name="teams-give"),
    path("teams/members/<int:pk>/take/", teams.take, name="teams-take"),
]

"""The least role for each address; who is not told here may look as a viewer and change as an
operator."""

from __future__ import annotations

from jobs.roles import Role

VIEWER, OPERATOR, DEVELOPER, ADMIN = Role
#: More than anybody has.
NOBODY = 9

#: Before the login.
PUBLIC = ("login/", "logout/", "oidc/login/", "oidc/callback/")
#: Below these, `pk` is a row of the team.
OF_THE_TEAM = ("api/alerts/rules/", "api/alerts/deliveries/", "api/jobs/", "api/savepoints/")

_JOB = "jobs/<job_id>/"
LOOK: dict[str, int] = {
    f"{_JOB}act/<verb>/": OPERATOR,
    f"{_JOB}checkpoints/take/": OPERATOR,
    f"{_JOB}savepoints/take/": OPERATOR,
    f"{_JOB}savepoints/<savepoint_id>/dispose/": OPERATOR,
    f"{_JOB}savepoints/<savepoint_id>/start/": DEVELOPER,
    # Flink has these with GET, and they change something.
    f"{_JOB}yarn-cancel": OPERATOR,
    f"{_JOB}yarn-stop": OPERATOR,
    "savepoints/<savepoint_id>/dispose/": OPERATOR,
    "schedules/<schedule_id>/<verb>/": OPERATOR,
    "taskmanagers/<name>/act/<verb>/": OPERATOR,
    "jars/<jar_id>/plan": DEVELOPER,
    "submit/": DEVELOPER,
    "submit/<program>/delete/": DEVELOPER,
    "alerts/rules/new/": ADMIN,
    "alerts/rules/<pk>/": ADMIN,
    "alerts/rules/<pk>/<verb>/": ADMIN,
    "alerts/channels/new/": ADMIN,
    "alerts/channels/<pk>/": ADMIN,
    "alerts/channels/<pk>/<verb>/": ADMIN,
    "secrets/": DEVELOPER,
    "secrets/<pk>/delete/": ADMIN,
    "api/secrets/<pk>/": DEVELOPER,
    "teams/new/": ADMIN,
    "teams/<pk>/edit/": ADMIN,
    "teams/<pk>/delete/": ADMIN,
    "teams/members/<pk>/take/": ADMIN,
    "audit/": ADMIN,
    "audit/export/": ADMIN,
    "api/audit/": ADMIN,
    "api/audit/<pk>/": ADMIN,
    "api/tokens/<pk>/": ADMIN,  # of an admin
    "account/password/": NOBODY,  # for accounts with a password
}
CHANGE: dict[str, int] = {
    **{route: role for route, role in LOOK.items() if route.endswith("/")},
    "account/tokens/": VIEWER,
    "account/tokens/<pk>/revoke/": VIEWER,
    "account/sessions/<pk>/end/": VIEWER,
    "account/sessions/end/": VIEWER,
    "jobs/act/": VIEWER,  # of the chosen jobs, those that one may operate
    "jars/upload": DEVELOPER,
    "jars/<jar_id>": DEVELOPER,
    "jars/<jar_id>/plan": DEVELOPER,
    "jars/<jar_id>/run": DEVELOPER,
    "jars/<jar_id>/run-application": DEVELOPER,
    "jobs": VIEWER,  # answers that there are no job graphs of Java here
    "jobmanager/profiler": VIEWER,  # answers that there is none
    "taskmanagers/<taskmanager_id>/profiler": VIEWER,
    "datasets/<dataset_id>": VIEWER,  # answers that there is none
    "cluster": NOBODY,
    "secrets/": ADMIN,
    "teams/roles/": ADMIN,
    "teams/<pk>/members/": ADMIN,
    "api/alerts/rules/": ADMIN,
    "api/alerts/rules/<pk>/": ADMIN,
    "api/alerts/channels/": ADMIN,
    "api/alerts/channels/<pk>/": ADMIN,
    "api/alerts/channels/<pk>/test/": ADMIN,
    "api/jobs/": DEVELOPER,
    "api/jobs/<job_id>/upgrades/": DEVELOPER,
    "api/schedules/": DEVELOPER,
    "api/schedules/<pk>/resume/": DEVELOPER,
    "api/memberships/": ADMIN,
    "api/memberships/<pk>/": ADMIN,
    "api/secrets/": ADMIN,
    "api/secrets/<pk>/": ADMIN,
    "api/teams/": ADMIN,
    "api/teams/<pk>/": ADMIN,
    "api/tokens/": VIEWER,
    "api/tokens/<pk>/": ADMIN,
}
#: What is asked, where an empty request means nothing.
BODIES = {"savepoint-disposal": {"savepoint-path": "/nowhere/hush-hush-payments"}}


def least(route: str, method: str) -> int:
    if method == "GET":
        return LOOK.get(route, VIEWER)
    return CHANGE.get(f"{method} {route}", CHANGE.get(route, OPERATOR))

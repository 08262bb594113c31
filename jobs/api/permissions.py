"""`jobs.permissions` as views ask for them: each demand raises PermissionDenied (403) with what is
needed. What the caller may not see is not there (404); that is up to the view's rows."""

from __future__ import annotations

from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from jobs import permissions
from jobs.models import Job, Team
from jobs.roles import Role


class MayOperateCluster(BasePermission):
    message = "Steering the cluster needs the role operator."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return permissions.may_steer(request.user)


class MaySubmit(BasePermission):
    message = (
        "Submitting jobs needs the role developer ('Can submit jobs'), in the cluster or in a team."
    )

    def has_permission(self, request: Request, view: APIView) -> bool:
        return permissions.may_submit_somewhere(request.user)


class MayKeepAlerts(BasePermission):
    message = "Keeping alerts needs the role admin or the permission to change alert rules."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return permissions.may_keep_alerts(request.user)


class MayAdminister(BasePermission):
    message = "This needs the role admin."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return permissions.may_administer(request.user)


class MayAdministerSomewhere(BasePermission):
    """The view says of which team it is."""

    message = "This needs the role admin, in the cluster or in a team."

    def has_permission(self, request: Request, view: APIView) -> bool:
        own = permissions.rights(request.user)
        return Role.ADMIN in (own.cluster, own.elsewhere, *own.teams.values())


def to_operate(request: Request, job: Job | None) -> None:
    """`job`: None for what belongs to no job any more."""
    to_operate_of(request, job.team_id if job is not None else None)


def to_operate_of(request: Request, team: Team | int | None) -> None:
    if not permissions.is_at_least(request.user, Role.OPERATOR, team):
        raise PermissionDenied("Steering this needs the role operator in the team that it is of.")


def to_develop(request: Request, job: Job, *, brings_code: bool = False) -> None:
    if not permissions.may_develop(request.user, job):
        raise PermissionDenied("Changing this job needs the role developer in its team.")
    if brings_code and not permissions.may_upload(request.user, job.team_id):
        raise PermissionDenied(_OFF)


def to_submit(request: Request, team: Team | None, *, brings_code: bool = False) -> None:
    if not permissions.may_submit(request.user, team):
        whose = f"of the team {team}" if team is not None else "of no team"
        raise PermissionDenied(f"Submitting a job {whose} needs the role developer there.")
    if brings_code and not permissions.may_upload(request.user, team):
        raise PermissionDenied(_OFF)


def to_administer(request: Request, team: Team | None) -> None:
    if not permissions.may_administer(request.user, team):
        whose = f" of the team {team}" if team is not None else ""
        raise PermissionDenied(f"This needs the role admin{whose}.")


_OFF = "Bringing code is switched off on this cluster; what is stored here can be run."


def team_named(request: Request, name: str) -> Team | None:
    """The team that a request names; "": the token's, or none. One that the caller is not in does
    not exist for them. Raises ValidationError."""
    if not name:
        token = getattr(request.user, "headrace_token", None)
        return token.team if token is not None else None
    team = permissions.teams(request.user).filter(name=name).first()
    if team is None:
        raise ValidationError({"team": f"there is no team {name!r}"})
    return team

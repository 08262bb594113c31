"""Who may do what.

Everybody who is logged in may look (viewer). More comes from three sources, the highest counts:
memberships, a staff account (admin), and Django's permissions "Can submit jobs" (developer) and
"Can change job" (operator). A team's jobs are its members' and the admins'; within a team, the role
in that team counts alone. A token narrows what its owner may: `user.headrace_token`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, Q, QuerySet, prefetch_related_objects

from jobs.models import ApiToken, Job, Team
from jobs.roles import Role

Anybody = User | AnonymousUser
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Rights:
    """The roles of one user, as narrowed by the token in use. None: nothing to see there."""

    #: For the cluster, and for jobs of no team.
    cluster: Role | None
    #: By the id of the team.
    teams: Mapping[int, Role]
    #: In every other team: an admin's.
    elsewhere: Role | None

    def within(self, team: int | None) -> Role | None:
        return self.cluster if team is None else self.teams.get(team, self.elsewhere)


_NOTHING = Rights(None, {}, None)


def rights(user: Anybody) -> Rights:
    """One query for each user object; `refresh_from_db` on it has them read again."""
    if not isinstance(user, User) or not user.is_active:
        return _NOTHING
    prefetch_related_objects([user], "headrace_memberships")
    rows = list(user.headrace_memberships.all())
    cluster = max([_of_account(user), *(Role(row.role) for row in rows if row.team_id is None)])
    if cluster is Role.ADMIN:
        return _narrowed(Rights(cluster, {}, cluster), _token(user))
    found: dict[int, Role] = {}
    for row in rows:
        if row.team_id is not None:
            found[row.team_id] = max(Role(row.role), found.get(row.team_id, Role.VIEWER))
    return _narrowed(Rights(cluster, found, None), _token(user))


def is_admin(user: Anybody) -> bool:
    """By the account alone: staff, or made an admin of the cluster. Asks for no permission."""
    if not isinstance(user, User) or not user.is_active:
        return False
    if user.is_staff or user.is_superuser:
        return True
    prefetch_related_objects([user], "headrace_memberships")
    rows = user.headrace_memberships.all()
    return any(row.team_id is None and row.role == Role.ADMIN for row in rows)


def _of_account(user: User) -> Role:
    if is_admin(user):
        return Role.ADMIN
    if user.has_perm("jobs.submit_job"):
        return Role.DEVELOPER
    return Role.OPERATOR if user.has_perm("jobs.change_job") else Role.VIEWER


def _narrowed(own: Rights, token: ApiToken | None) -> Rights:
    if token is None:
        return own
    most = Role(token.role)
    if token.team_id is not None:
        inside = own.within(token.team_id)
        return Rights(None, {} if inside is None else {token.team_id: min(inside, most)}, None)
    teams = {team: min(role, most) for team, role in own.teams.items()}
    return Rights(_least(own.cluster, most), teams, _least(own.elsewhere, most))


def _least(role: Role | None, most: Role) -> Role | None:
    return None if role is None else min(role, most)


def _token(user: User) -> ApiToken | None:
    return getattr(user, "headrace_token", None)


def role(user: Anybody, team: Team | int | None = None) -> Role | None:
    """What the user is in this team; without one, in the cluster. None: nothing to see there."""
    return rights(user).within(team.pk if isinstance(team, Team) else team)


def is_at_least(user: Anybody, least: Role, team: Team | int | None = None) -> bool:
    """Has this role in the team, or without one in the cluster."""
    found = role(user, team)
    return found is not None and found >= least


def of_visible(
    rows: QuerySet[Row], user: Anybody, team: str = "team", least: Role = Role.VIEWER
) -> QuerySet[Row]:
    """Those of the rows in whose team (by this name, e.g. "job__team") the user has at least this
    role. Rows of no team count as the cluster's."""
    own = rights(user)
    if own.cluster is not None and own.elsewhere is not None and own.elsewhere >= least:
        return rows
    teams = [number for number, role in own.teams.items() if role >= least]
    found = Q(**{f"{team}__in": teams})
    if own.cluster is not None and own.cluster >= least:
        found |= Q(**{f"{team}__isnull": True})
    return rows.filter(found)


def teams(user: Anybody, least: Role = Role.VIEWER) -> QuerySet[Team]:
    """The teams in which the user has this role or a higher one: for lists to choose from."""
    own = rights(user)
    if own.elsewhere is not None and own.elsewhere >= least:
        return Team.objects.all()
    return Team.objects.filter(pk__in=[n for n, role in own.teams.items() if role >= least])


def visible_jobs(user: Anybody) -> QuerySet[Job]:
    """The jobs that the user may look at. Others do not exist for them (404)."""
    return of_visible(Job.objects.all(), user)


def may_view(user: Anybody, job: Job) -> bool:
    return is_at_least(user, Role.VIEWER, job.team_id)


def may_operate(user: Anybody, job: Job) -> bool:
    """Cancel, suspend, resume, restart, savepoints: the job's operators."""
    return is_at_least(user, Role.OPERATOR, job.team_id)


def may_develop(user: Anybody, job: Job) -> bool:
    """Bring a new version of the job, with code of its own or other arguments."""
    return is_at_least(user, Role.DEVELOPER, job.team_id)


def may_submit(user: Anybody, team: Team | int | None = None) -> bool:
    """Submit jobs of this team; without one, of the cluster. It runs code on the TaskManagers."""
    return is_at_least(user, Role.DEVELOPER, team)


def may_submit_somewhere(user: Anybody) -> bool:
    """Has a team, or the cluster, to submit jobs for: whether the page is shown."""
    own = rights(user)
    known = [own.cluster, own.elsewhere, *own.teams.values()]
    return any(role is not None and role >= Role.DEVELOPER for role in known)


def may_upload(user: Anybody, team: Team | int | None = None) -> bool:
    """Bring code of their own. It can be switched off; what is there already can still be run."""
    return bool(settings.HEADRACE_UPLOADS) and may_submit(user, team)


def may_steer(user: Anybody) -> bool:
    """Operate the cluster: TaskManagers, and jobs of no team. For a job use `may_operate`."""
    return is_at_least(user, Role.OPERATOR)


def may_keep_alerts(user: Anybody) -> bool:
    """Rules and channels: admins, and whoever may change alert rules. The platform sends messages
    to any address they name, within its own network too."""
    if may_administer(user):
        return True
    own = rights(user).cluster
    if own is None or is_admin(user):  # an admin's token may less than an admin
        return False
    return _token_allows(user) and user.has_perm("jobs.change_alertrule")


def _token_allows(user: Anybody) -> bool:
    """A token below developer writes nothing of that reach."""
    token = _token(user) if isinstance(user, User) else None
    return token is None or token.role >= Role.DEVELOPER


def may_administer(user: Anybody, team: Team | int | None = None) -> bool:
    """Keep accounts, teams, everybody's tokens and the audit log; with a team: its members and
    secrets."""
    return is_at_least(user, Role.ADMIN) or (
        team is not None and is_at_least(user, Role.ADMIN, team)
    )

"""Programs that people bring to run later, by themselves or through Flink's REST API.

A row can be removed at any time: jobs keep the stored file that they were made of.
"""

from __future__ import annotations

from typing import IO

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet

from headrace.wire import packages
from jobs import artifacts, permissions
from jobs.artifacts import Artifact
from jobs.models import Team, Upload
from jobs.roles import Role


class NoTeam(ValueError):
    """For which team is not clear, or the team is none of the user's; `args[0]` says what to do."""


def visible(user: User | AnonymousUser) -> QuerySet[Upload]:
    """Those of the user's teams and of the cluster, newest first."""
    return permissions.of_visible(Upload.objects.all(), user)


def keep(file: bytes | IO[bytes], name: str, user: User | None, team: Team | None) -> Upload:
    """Check and store a program. Raises UnusableFile, with the reason."""
    artifact = artifacts.store(file, name)
    return Upload.objects.create(
        name=artifact.name,
        path=str(artifact.path),
        sha256=artifact.sha256,
        size=artifact.path.stat().st_size,
        entries=_entries(artifact),
        team=team,
        uploaded_by=user,
    )


def team_of(user: User, name: str = "") -> Team | None:
    """The team that the user submits for: as named, else the cluster if they may, else their only
    one. Raises NoTeam."""
    teams = permissions.teams(user, Role.DEVELOPER)
    if name:
        found = teams.filter(name=name).first()
        if found is None:
            raise NoTeam(f"you submit no jobs for a team {name!r}")
        return found
    if permissions.may_submit(user):
        return None
    own = list(teams[:2])
    if len(own) != 1:
        raise NoTeam("say for which of your teams, as ?team=NAME")
    return own[0]


def _entries(artifact: Artifact) -> list[str]:
    """With what would be run first, if that is clear."""
    if not artifact.is_package:
        return []
    found = packages.entries(artifact.path)
    try:
        chosen = packages.choose(artifact.path)
    except packages.BadPackage:
        return found
    return [chosen, *(name for name in found if name != chosen)]

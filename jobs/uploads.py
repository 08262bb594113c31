"""Programs that people bring to run later, by themselves or through Flink's REST API.

A row can be removed at any time: the stored file stays while a job, one of its versions or a
schedule is made of it.
"""

from __future__ import annotations

import io
from functools import partial
from typing import IO

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Max, QuerySet, Sum

from headrace.wire import packages
from jobs import artifacts, permissions
from jobs.artifacts import Artifact
from jobs.models import Job, JobVersion, Schedule, Team, Upload
from jobs.roles import Role


class NoTeam(ValueError):
    """For which team is not clear, or the team is none of the user's; `args[0]` says what to do."""


def visible(user: User | AnonymousUser) -> QuerySet[Upload]:
    """Those of the user's teams and of the cluster, newest first."""
    return permissions.of_visible(Upload.objects.all(), user)


class Full(artifacts.UnusableFile):
    """There is no room for another one; `args[0]` says why and what to do."""


def keep(file: bytes | IO[bytes], name: str, user: User | None, team: Team | None) -> Upload:
    """Check and store a program. Raises UnusableFile with the reason, Full."""
    content = io.BytesIO(file) if isinstance(file, bytes) else file
    _check_room(artifacts.size(content), user)
    artifact = artifacts.store(content, name)
    row = Upload.objects.create(
        name=artifact.name,
        path=str(artifact.path),
        sha256=artifact.sha256,
        size=artifact.path.stat().st_size,
        entries=_entries(artifact),
        team=team,
        uploaded_by=user,
    )
    if not artifact.path.exists():  # removed as nobody's, the moment before this row was there
        artifacts.store(content, name)
    return row


def kept(file: IO[bytes], name: str, team: Team | None) -> Upload | None:
    """The same program under the same name, if the team has it already. Raises UnusableFile for
    what is no name of a program."""
    name, digest = artifacts.checked_name(name), artifacts.digest(file)
    return Upload.objects.filter(sha256=digest, name=name, team=team).first()


def remove(row: Upload) -> None:
    """With its file, if nothing else is made of that."""
    digest = row.sha256
    row.delete()
    transaction.on_commit(partial(artifacts.remove, digest, partial(_is_used, digest)))


def _is_used(sha256: str) -> bool:
    rows = (
        Upload.objects.filter(sha256=sha256),
        *(kind.objects.filter(artifact_sha256=sha256) for kind in (Job, JobVersion, Schedule)),
    )
    return any(each.exists() for each in rows)


def _check_room(size: int, user: User | None) -> None:
    """What several people bring at the same moment may go beyond the bounds. Raises Full."""
    own = Upload.objects.filter(uploaded_by=user).count() if user is not None else 0
    if own >= settings.HEADRACE_UPLOADS_EACH:
        raise Full(
            f"you keep {own} programs here, and may keep {settings.HEADRACE_UPLOADS_EACH} "
            "(HEADRACE_UPLOADS_EACH); delete some that are not needed: jobs keep what they are "
            "made of"
        )
    contents = Upload.objects.order_by().values("sha256").annotate(bytes=Max("size"))
    total = contents.aggregate(total=Sum("bytes"))["total"] or 0
    if total + size > settings.HEADRACE_UPLOADS_BYTES:
        raise Full(
            f"uploaded programs have {total} bytes together, and may have "
            f"{settings.HEADRACE_UPLOADS_BYTES} (HEADRACE_UPLOADS_BYTES); delete some first"
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

"""Secrets of jobs: kept encrypted, decrypted for the drivers of the jobs that name them.

A job names them in its configuration, `headrace.secrets: DB_PASSWORD, API_KEY`. Its driver finds
each in its environment, as HEADRACE_SECRET_DB_PASSWORD. Of two with the same name the one of the
job's team counts before the cluster's. Nothing shows a value: who forgot it sets it anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from jobs import masking, options
from jobs.models import Job, Secret, Team
from jobs.models.secret import NAME

#: The job's setting that names them.
KEY = "headrace.secrets"
#: How the variables of a driver begin.
VARIABLE = "HEADRACE_SECRET_"
#: Bytes of a value at most: it is handed over in the environment.
LONGEST = 64 * 1024


class Unreadable(Exception):
    """A secret was encrypted with a key that is not among HEADRACE_SECRETS_KEYS."""


def keep(
    name: str, value: str, team: Team | None, user: User | None, description: str | None = None
) -> Secret:
    """Make it, or give it another value; drivers that run keep the old one. Raises
    InvalidOption."""
    _check(name)
    columns = {"ciphertext": encrypted(value), "changed_at": timezone.now()}
    if description is not None:
        columns["description"] = description[:500]
    with transaction.atomic():
        row, _ = Secret.objects.update_or_create(
            name=name, team=team, defaults=columns, create_defaults={**columns, "created_by": user}
        )
    return row


def encrypted(value: str) -> str:
    """As it is kept. Raises InvalidOption."""
    if not value or "\0" in value or len(value.encode()) > LONGEST:
        raise options.InvalidOption(f"a secret has 1 to {LONGEST} bytes, none of them zero")
    return _keys().encrypt(value.encode()).decode()


def _check(name: str) -> None:
    try:
        NAME(name)
    except ValidationError as error:
        raise options.InvalidOption(f"{name!r} is no name of a secret: {error.message}") from None


def names(configuration: Mapping[str, str]) -> list[str]:
    """Those that a job's settings name."""
    return [name for name in re.split(r"[,;\s]+", configuration.get(KEY, "")) if name]


def check(configuration: Mapping[str, str], team: Team | None) -> None:
    """Raises InvalidOption when the settings name one that such a job may not have."""
    wanted = set(names(configuration))
    known = set(_of(team, wanted).values_list("name", flat=True)) if wanted else set()
    if missing := sorted(wanted - known):
        whose = f"team {team} or of the cluster" if team is not None else "the cluster"
        raise options.InvalidOption(f"there is no secret {', '.join(missing)} of {whose}")


def environment(job: Job) -> dict[str, str]:
    """What its driver gets. Raises InvalidOption for one that is gone, Unreadable."""
    check(job.configuration, job.team)
    found = _values(job)
    Secret.objects.filter(pk__in=[row.pk for row in found]).update(used_at=timezone.now())
    return {f"{VARIABLE}{row.name}": value for row, value in found.items()}


def hidden(job: Job, text: str) -> str:
    """A text of the job's driver, without the values of its secrets."""
    if not text or not names(job.configuration):
        return text
    try:
        values = _values(job).values()
    except Unreadable:  # then its driver did not get them either
        return text
    return masking.without(text, values)


def rotate() -> int:
    """Encrypt all of them with the first of HEADRACE_SECRETS_KEYS; how many. Raises Unreadable."""
    with transaction.atomic():
        rows = list(Secret.objects.select_for_update())
        for row in rows:
            row.ciphertext = encrypted(_value(row))
        Secret.objects.bulk_update(rows, ["ciphertext"])
    return len(rows)


def _values(job: Job) -> dict[Secret, str]:
    rows = _of(job.team, set(names(job.configuration)))
    of_cluster_first = sorted(rows, key=lambda row: row.team_id is not None)
    counting = {row.name: row for row in of_cluster_first}
    return {row: _value(row) for row in counting.values()}


def _of(team: Team | None, wanted: set[str]) -> QuerySet[Secret]:
    whose = Q(team=None) if team is None else Q(team=None) | Q(team=team)
    return Secret.objects.filter(whose, name__in=wanted)


def _value(row: Secret) -> str:
    try:
        return _keys().decrypt(row.ciphertext.encode()).decode()
    except InvalidToken as error:
        raise Unreadable(
            f"secret {row} was encrypted with another key than those in HEADRACE_SECRETS_KEYS; "
            "add that key behind the others, or set the secret anew"
        ) from error


def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.HEADRACE_SECRETS_KEYS])

"""What a job was made of, version by version, and how two of them differ."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from jobs import artifacts, masking, options, restart_strategies
from jobs.artifacts import Artifact
from jobs.models import Job, JobVersion, Upgrade
from jobs.states import UpgradeState

#: How long a new version may take until it runs, its wait for slots included.
START_TIMEOUT = "headrace.upgrade.start-timeout"
DEFAULT_START_TIMEOUT_MS = 5 * 60 * 1000
#: The platform itself, where a user's name is wanted.
PLATFORM = "the platform"


@dataclass(frozen=True, slots=True)
class Content:
    """What a version is made of; two with equal content are the same."""

    artifact: Artifact
    arguments: tuple[str, ...]
    parallelism: int
    configuration: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Difference:
    """`setting`: None = the key is not set there; values of secrets are masked."""

    #: As `diff -u` tells it; empty for equal programs.
    code: str
    arguments: tuple[list[str], list[str]] | None
    parallelism: tuple[int, int] | None
    configuration: dict[str, tuple[str | None, str | None]]


def content(version: JobVersion) -> Content:
    artifact = Artifact(Path(version.entry), version.entry_name, version.artifact_sha256)
    arguments = tuple(version.arguments)
    return Content(artifact, arguments, version.parallelism, version.configuration)


def keep(job: Job, made: Content, user: User | None, reason: str = "") -> JobVersion:
    """Store the job's next version, within the transaction that asks for it."""
    last = job.versions.order_by("-number").values_list("number", flat=True).first() or 0
    return JobVersion.objects.create(
        job=job,
        number=last + 1,
        entry=str(made.artifact.path),
        entry_name=made.artifact.name,
        artifact_sha256=made.artifact.sha256,
        arguments=list(made.arguments),
        parallelism=made.parallelism,
        configuration=dict(made.configuration),
        reason=reason[:500],
        created_by=user,
        created_by_name=user.get_username() if user is not None else PLATFORM,
    )


def keep_first(job: Job, user: User | None) -> JobVersion:
    """What the job was submitted as, within the transaction that stores it."""
    artifact = Artifact(Path(job.entry), job.entry_name, job.artifact_sha256)
    made = Content(artifact, tuple(job.arguments), job.parallelism, job.configuration)
    return keep(job, made, user)


def columns(version: JobVersion) -> dict[str, Any]:
    """The job's own columns when this is its version. What its driver told of another is gone."""
    return {
        "version": version.number,
        "entry": version.entry,
        "entry_name": version.entry_name,
        "artifact_sha256": version.artifact_sha256,
        "arguments": version.arguments,
        "parallelism": version.parallelism,
        "configuration": version.configuration,
        "restart_strategy": restart_strategies.own(version.configuration),
        "slots_needed": None,
        "progressed_at": None,
    }


def difference(before: JobVersion, after: JobVersion) -> Difference:
    """What changes from one to the other."""
    arguments = (before.shown_arguments, after.shown_arguments)
    parallelism = (before.parallelism, after.parallelism)
    return Difference(
        code="".join(_code(before, after)),
        arguments=arguments if before.arguments != after.arguments else None,
        parallelism=parallelism if parallelism[0] != parallelism[1] else None,
        configuration=_settings(before.configuration, after.configuration),
    )


def deadline(configuration: Mapping[str, str]) -> datetime:
    """Until when a version that starts now has to run."""
    return timezone.now() + timedelta(milliseconds=start_timeout_ms(configuration))


def start_timeout_ms(configuration: Mapping[str, str]) -> int:
    """Raises InvalidOption."""
    text = configuration.get(START_TIMEOUT) or settings.HEADRACE_PROPERTIES.get(START_TIMEOUT, "")
    if not text:
        return DEFAULT_START_TIMEOUT_MS
    found = options.duration_ms(text)
    if not found:
        raise options.InvalidOption(f"{START_TIMEOUT}: {text!r} is no duration like '5 min'")
    return found


def resumed(job: Job) -> None:
    """The job is wanted running again: time that it was suspended is not the new version's."""
    Upgrade.objects.filter(job=job, state=UpgradeState.STARTING).update(
        deadline=deadline(job.configuration)
    )


def _code(before: JobVersion, after: JobVersion) -> Iterator[str]:
    if before.artifact_sha256 == after.artifact_sha256:
        return iter(())
    then, now = (f"{each.entry_name} (version {each.number})" for each in (before, after))
    return difflib.unified_diff(_lines(before), _lines(after), then, now)


def _lines(version: JobVersion) -> list[str]:
    """A file without a newline at its end gets one, so that the lines stay lines."""
    try:
        lines = artifacts.lines(version.entry)
    except OSError as error:
        return [f"# the stored program cannot be read here: {error.strerror}\n"]
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]


def _settings(
    before: Mapping[str, str], after: Mapping[str, str]
) -> dict[str, tuple[str | None, str | None]]:
    then, now = masking.masked(before), masking.masked(after)
    return {
        key: (then.get(key), now.get(key))
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    }

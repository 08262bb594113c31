"""What can be submitted: uploaded programs, and the examples that come with Headrace."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from jobs import artifacts, permissions, uploads
from jobs.artifacts import Artifact
from jobs.models import Team, Upload

#: How the id of an example begins, where an upload's is a UUID.
EXAMPLE = "example:"


class NoProgram(ValueError):
    """There is none of this id, for this user; `args[0]` says so."""


@dataclass(frozen=True, slots=True)
class Example:
    """A job that comes with Headrace; `words` is the first line of its docstring."""

    id: str
    name: str
    words: str


@cache
def examples() -> tuple[Example, ...]:
    return tuple(
        Example(f"{EXAMPLE}{name}", path.name, _first_line(path))
        for name, path in artifacts.examples().items()
    )


def _first_line(path: Path) -> str:
    """The file is parsed, not run."""
    return (ast.get_docstring(ast.parse(path.read_bytes())) or "").partition("\n")[0]


@dataclass(frozen=True, slots=True)
class Program:
    """One that was chosen."""

    id: str
    name: str
    artifact: Artifact
    entries: tuple[str, ...] = ()
    team_id: int | None = None


def find(program: str, user: Any) -> Program:
    """Raises NoProgram; UnusableFile for an example that cannot be stored."""
    if program.startswith(EXAMPLE):
        path = artifacts.examples().get(program.removeprefix(EXAMPLE))
        if path is None:
            raise NoProgram("there is no example of this name")
        return Program(program, path.name, artifacts.store(path.read_bytes(), path.name))
    row = uploads.visible(user).filter(pk=program).first()
    if row is None:
        raise NoProgram("this program is not there any more; choose another, or upload it again")
    return Program(row.pk, row.name, row.artifact, tuple(row.entries), row.team_id)


def keep(file: Any, user: User, team: Team | None) -> Upload:
    """Store what was uploaded; the same again is the same program. Raises UnusableFile."""
    return uploads.kept(file, file.name, team) or uploads.keep(file, file.name, user, team)


def may_delete(user: Any, row: Upload) -> bool:
    return permissions.may_submit(user, row.team_id)

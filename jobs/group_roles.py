"""Roles by the groups that an OpenID provider names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jobs import options

#: As in jobs.roles, which needs Django to be set up.
ROLES = ("viewer", "operator", "developer", "admin")


@dataclass(frozen=True, slots=True)
class Grant:
    """What a group brings: a role in a team, or ("" as the team) in the cluster."""

    group: str
    team: str
    role: str


def read(text: str) -> list[Grant]:
    """`group=role` and `group=team:role`, separated by commas. Raises InvalidOption."""
    return [_grant(part) for part in (part.strip() for part in text.split(",")) if part]


def _grant(part: str) -> Grant:
    group, _, given = part.rpartition("=")
    team, _, word = given.rpartition(":")
    if not group.strip() or word.strip().lower() not in ROLES:
        raise options.InvalidOption(
            f"{part!r} is not group=role or group=team:role, with one of the roles "
            + ", ".join(ROLES)
        )
    return Grant(group.strip(), team.strip(), word.strip().lower())


def granted(groups: Iterable[str], grants: Iterable[Grant]) -> dict[str, str]:
    """{team: role} that the groups bring, the highest of each; "" = the cluster."""
    mine, found = set(groups), dict[str, str]()
    for grant in grants:
        known = found.get(grant.team, ROLES[0])
        if grant.group in mine:
            found[grant.team] = max(grant.role, known, key=ROLES.index)
    return found


def groups_of(claims: Mapping[str, object], name: str) -> set[str]:
    """The groups in a claim; `a.b` names claim b within claim a. A single word counts as one."""
    value: object = claims.get(name)
    if value is None:
        value = claims
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, str):
        return {value}
    return {str(item) for item in value} if isinstance(value, list) else set()

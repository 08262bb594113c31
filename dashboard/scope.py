"""Whose jobs a page shows. People with the same scope share the readers of live pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

from jobs import permissions
from jobs.models import Job

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Scope:
    """The jobs of these teams; None: all there are. `cluster`: those of no team as well."""

    teams: frozenset[int] | None = None
    cluster: bool = True

    def rows(self, rows: QuerySet[Row], team: str = "team") -> QuerySet[Row]:
        """Those of the rows that are in it; `team` is the way from a row to its team."""
        return rows.filter(self.within(team))

    def within(self, team: str) -> Q:
        """`rows` as a condition."""
        if self.teams is None:
            return Q()
        found = Q(**{f"{team}__in": self.teams})
        return found | Q(**{f"{team}__isnull": True}) if self.cluster else found

    def has(self, job: Job) -> bool:
        if job.team_id is None:
            return self.cluster
        return self.teams is None or job.team_id in self.teams

    @property
    def jobs(self) -> QuerySet[Job]:
        return self.rows(Job.objects.all())


#: Sees everything.
ALL = Scope()


def of(user: Any) -> Scope:
    """What somebody who is logged in may look at."""
    own = permissions.rights(user)
    if own.cluster is not None and own.elsewhere is not None:
        return ALL
    return Scope(frozenset(own.teams), cluster=own.cluster is not None)

"""Claims on a transactional id prefix, kept in the cluster: `twophase.claims`.

A job claims its prefix, and what its sinks' ids begin with. A claim is the metadata of an offset
that a consumer group without members has committed: read and written in milliseconds however long
the cluster has been in use, and forgotten by it after a week.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from headrace.connectors.twophase import claims


class Notes(Protocol):
    """`coordinator.Coordinator`."""

    def read_notes(self, topic: str, groups: Iterable[str]) -> dict[str, str]: ...

    def write_notes(self, topic: str, notes: dict[str, str]) -> None: ...


class Claims(claims.Claims):
    """The names of one sink that no other job may use."""

    def __init__(self, notes: Notes, topic: str, prefix: str, root: str) -> None:
        """`root` is what ids begin with; another prefix and sink name may give the same."""
        groups = {
            f"headrace-prefix-{prefix}": f"transactional id prefix {prefix!r}",
            f"headrace-ids-{root}": f"transactional ids {root}-*",
        }
        super().__init__(_Groups(notes, topic, list(groups)), groups, "consumer group ")


class _Groups:
    def __init__(self, notes: Notes, topic: str, groups: list[str]) -> None:
        self._notes = notes
        self._topic = topic
        self._groups = groups

    def read(self) -> Mapping[str, str]:
        return self._notes.read_notes(self._topic, self._groups)

    def write(self, notes: Mapping[str, str]) -> None:
        self._notes.write_notes(self._topic, dict(notes))

"""Failures grouped by what caused them: those at the same time belong to the first. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from jobs.models import Event

#: Failures of one attempt, or so close to each other, have one cause.
TOGETHER = timedelta(seconds=2)


@dataclass(slots=True)
class Cause:
    """The failure that came first, and those that came with it."""

    root: Event
    others: list[Event] = field(default_factory=list)


def causes(failures: Sequence[Event]) -> list[Cause]:
    """Of failures, newest first; so are the answers."""
    found: list[Cause] = []
    for failure in reversed(failures):
        if found and _together(found[-1].root, failure):
            found[-1].others.append(failure)
        else:
            found.append(Cause(failure))
    return found[::-1]


def _together(first: Event, then: Event) -> bool:
    same = first.attempt_id is not None and first.attempt_id == then.attempt_id
    return same and then.at - first.at <= TOGETHER

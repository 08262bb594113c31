"""Whether attempts, slots and processes are as they have to be: between faults and at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.chaos.control.faults import UNNOTICED, Fault, Kind
from tests.chaos.control.rest import Row

#: A machine that is slow for a while ends attempts in these ways; what they were about is done
#: again. Anything else has to have been brought about by the fault.
OF_SLOWNESS = {"hung", "lost", "running", "unreachable"}
#: Every job of the TaskManager moves, or may move.
_OF_TASKMANAGER = {Kind.TASKMANAGER_AWAY, Kind.TASKMANAGER_PAUSED, Kind.DRIVER_UNSEEN}
_OF_DRIVER = set(Kind) - UNNOTICED - {Kind.TASKMANAGER_AWAY, Kind.TASKMANAGER_PAUSED}


@dataclass
class Ends:
    """Attempts that have ended, told apart by whether a fault has ended them."""

    #: (job, number of the attempt)
    _known: set[tuple[int, int]] = field(default_factory=set)
    #: All, by cause.
    causes: Counter[str] = field(default_factory=Counter)
    #: Those that none of the faults was to end, in words.
    unasked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def take(self, job: int, attempts: list[Row], fault: Fault | None) -> int:
        """How many ended since the last time. `fault` is what was done meanwhile."""
        new = 0
        for row in attempts:
            place = job, int(row["number"])
            if row["ended_at"] is None or place in self._known:
                continue
            new += 1
            self._known.add(place)
            self.causes[row["cause"] or row["state"].lower()] += 1
            if not _brought_about(fault, job, row["cause"]):
                self._note(job, row, fault)
        return new

    def _note(self, job: int, row: Row, fault: Fault | None) -> None:
        words = (
            f"job {job}, attempt {row['number']} ended during {fault or 'no fault'}: "
            f"{row['cause'] or row['state']} ({row['error'][:200]})"
        )
        if row["cause"] in OF_SLOWNESS:
            self.unasked.append(words)
        else:
            self.problems.append(words)


def _brought_about(fault: Fault | None, job: int, cause: str) -> bool:
    if fault is None:
        return False
    if fault.kind in _OF_TASKMANAGER and cause == "lost":
        return True
    return fault.kind in _OF_DRIVER and fault.job == job


def doubled(living: Mapping[str, Mapping[int, object]]) -> list[str]:
    """Jobs with processes of several attempts."""
    return [
        f"job {job} has processes of several attempts: {sorted(attempts)}"
        for job, attempts in living.items()
        if len(attempts) > 1
    ]


def slot_problems(taskmanagers: Mapping[str, Row], jobs: Mapping[str, int]) -> list[str]:
    """Jobs that hold more than `jobs` says, by id; a job that is to move may hold none."""
    held = Counter(
        slot["job"] for row in taskmanagers.values() for slot in row["slot_set"] if slot["job"]
    )
    return [
        f"job {job} holds {slots} slots instead of {jobs.get(job, 0)}"
        for job, slots in sorted(held.items())
        if slots > jobs.get(job, 0)
    ]

"""What is done to the platform, and a random schedule of it that follows from its seed alone."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum

from tests.chaos.faults import Part


class Kind(Enum):
    LEADER_KILLED = "leader killed"
    LEADER_PAUSED = "leader paused past its lease"
    WEB_KILLED = "web killed"
    REDIS_KILLED = "Redis killed"
    TASKMANAGER_KILLED = "TaskManager killed, comes back"
    TASKMANAGER_AWAY = "TaskManager killed, lost, comes back"
    TASKMANAGER_PAUSED = "TaskManager paused until lost"
    DRIVER_KILLED = "driver killed"
    DRIVER_STARTING = "driver killed, the next while it starts"
    DRIVER_PAUSED = "driver paused past its heartbeat"
    DRIVER_UNSEEN = "driver and its TaskManager killed"
    DRIVER_LEADERLESS = "driver and leader killed"


#: Those that running jobs do not notice: no attempt ends.
UNNOTICED = {
    Kind.LEADER_KILLED,
    Kind.LEADER_PAUSED,
    Kind.WEB_KILLED,
    Kind.REDIS_KILLED,
    Kind.TASKMANAGER_KILLED,
}

#: How many of a hundred faults are of the kind.
WEIGHTS = {
    Kind.LEADER_KILLED: 11,
    Kind.LEADER_PAUSED: 10,
    Kind.WEB_KILLED: 8,
    Kind.REDIS_KILLED: 9,
    Kind.TASKMANAGER_KILLED: 13,
    Kind.TASKMANAGER_AWAY: 6,
    Kind.TASKMANAGER_PAUSED: 5,
    Kind.DRIVER_KILLED: 14,
    Kind.DRIVER_STARTING: 6,
    Kind.DRIVER_PAUSED: 7,
    Kind.DRIVER_UNSEEN: 6,
    Kind.DRIVER_LEADERLESS: 5,
}
#: One of each process that may die, for a run of minutes.
SHORT = (
    Kind.WEB_KILLED,
    Kind.LEADER_KILLED,
    Kind.REDIS_KILLED,
    Kind.TASKMANAGER_KILLED,
    Kind.LEADER_PAUSED,
    Kind.DRIVER_KILLED,
    Kind.DRIVER_PAUSED,
    Kind.DRIVER_UNSEEN,
)


@dataclass(frozen=True)
class Fault:
    kind: Kind
    #: Which job is hit: by itself, or because its TaskManager is.
    job: int
    part: Part
    #: Seconds after the last fault is overcome, or after a driver began to start.
    delay: float
    #: Seconds until something comes back, where nothing else says when.
    pause: float

    def __str__(self) -> str:
        words = self.kind.value
        if self.kind not in _OF_NO_JOB:
            words += f" (job {self.job})"
        return f"{words} [{self.part.value}]" if self.kind is Kind.DRIVER_KILLED else words


_OF_NO_JOB = UNNOTICED - {Kind.TASKMANAGER_KILLED}


@dataclass(frozen=True)
class Schedule:
    seed: int
    jobs: int
    faults: tuple[Fault, ...]

    @classmethod
    def of(cls, seed: int, count: int, jobs: int) -> Schedule:
        """`count` faults; each kind at least once as long as `count` allows."""
        chance = random.Random(seed)
        kinds = list(Kind)
        chance.shuffle(kinds)
        kinds = kinds[:count]
        if more := count - len(kinds):
            kinds += chance.choices(list(WEIGHTS), list(WEIGHTS.values()), k=more)
        return cls(seed, jobs, _faults(chance, kinds, jobs))

    @classmethod
    def short(cls, seed: int, jobs: int) -> Schedule:
        """One of each kind of `SHORT`."""
        chance = random.Random(seed)
        return cls(seed, jobs, _faults(chance, list(SHORT), jobs))


def _faults(chance: random.Random, kinds: list[Kind], jobs: int) -> tuple[Fault, ...]:
    chance.shuffle(kinds)
    return tuple(
        Fault(
            kind=kind,
            job=chance.randrange(jobs),
            part=chance.choice(list(Part)),
            delay=round(chance.uniform(0, 3), 2),
            pause=round(chance.uniform(0, 4), 2),
        )
        for kind in kinds
    )

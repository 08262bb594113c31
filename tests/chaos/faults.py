"""Kinds of faults, and a random schedule of them that follows from its seed alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from headrace.connectors.twophase.steps import Step


class Kind(Enum):
    DRIVER_KILLED = "driver killed"
    WORKER_KILLED = "Python worker killed"
    BROKER_KILLED = "broker killed"
    DRIVER_PAUSED = "driver paused past the timeout"
    WORKER_PAUSED = "worker paused past the timeout"
    REPLACED = "paused driver, its successor runs"
    OUTAGE = "driver dead past the timeout"
    TASK_POINT = "crash point in a task"
    COMMIT_POINT = "crash point in a commit"
    RECOVERY_POINT = "crash point in recovery"


TASK_STEPS = (Step.BEGUN, Step.PREPARED)
COMMIT_STEPS = (
    Step.DECIDING,
    Step.DECIDED,
    Step.ENDING,
    Step.ENDED,
    Step.COMMITTED,
    Step.DONE,
    Step.REPORTED,
)
RECOVERY_STEPS = (Step.CLAIMED, Step.RECOMMITTED, Step.FENCED, Step.RECOVERED)


class Victim(Enum):
    """Who is hit while a process is halted at a crash point."""

    #: The process that is halted there.
    ITSELF = "the process"
    DRIVER = "the driver"
    BROKER = "the broker"
    #: Nobody: it goes on after the transaction timeout.
    TIME = "paused"


class Part(Enum):
    """What of a driver is killed; the rest has to notice by itself."""

    PYTHON = "its Python process"
    JVM = "its JVM"
    ALL = "all its processes"


@dataclass(frozen=True)
class Fault:
    kind: Kind
    step: Step | None = None
    #: How often the step is let pass first.
    skip: int = 0
    victim: Victim = Victim.ITSELF
    part: Part = Part.ALL
    #: Seconds after a batch has begun, or after a driver was started.
    delay: float = 0.0
    #: Seconds until a broker comes back, or beyond the transaction timeout.
    pause: float = 0.0
    #: Do not wait until the last fault is overcome.
    hurry: bool = False

    def __str__(self) -> str:
        words = [self.kind.value]
        if self.step:
            words.append(f"at {self.step.value}" + f"+{self.skip}" * bool(self.skip))
        if self.kind in _POINTS:
            words.append(f"({self.victim.value})")
        if self.kind is Kind.DRIVER_KILLED or self.victim is Victim.DRIVER:
            words.append(f"[{self.part.value}]")
        return " ".join(words)


_POINTS = {Kind.TASK_POINT, Kind.COMMIT_POINT, Kind.RECOVERY_POINT}

#: How many of a hundred faults are of the kind: cheap ones more often.
SPARK_WEIGHTS = {
    Kind.WORKER_KILLED: 19,
    Kind.BROKER_KILLED: 15,
    Kind.TASK_POINT: 18,
    Kind.DRIVER_KILLED: 12,
    Kind.COMMIT_POINT: 14,
    Kind.RECOVERY_POINT: 7,
    Kind.WORKER_PAUSED: 4,
    Kind.DRIVER_PAUSED: 3,
    Kind.REPLACED: 5,
    Kind.OUTAGE: 3,
}
MINIATURE_WEIGHTS = {
    Kind.TASK_POINT: 25,
    Kind.COMMIT_POINT: 45,
    Kind.RECOVERY_POINT: 20,
    Kind.REPLACED: 10,
}


def schedule(
    chance: random.Random, count: int, weights: dict[Kind, int], *, without: frozenset[Step]
) -> list[Fault]:
    """`count` faults in random order; each kind once at least as long as `count` allows.

    A crash point in recovery comes after a fault that kills the driver."""
    kinds = sorted(weights, key=lambda kind: kind.value)
    chance.shuffle(kinds)
    kinds = kinds[:count]
    if count > len(kinds):
        more = chance.choices(list(weights), list(weights.values()), k=count - len(kinds))
        kinds += more
    chance.shuffle(kinds)
    turns: dict[Kind, _Turns] = {
        Kind.TASK_POINT: _Turns(chance, TASK_STEPS, without),
        Kind.COMMIT_POINT: _Turns(chance, COMMIT_STEPS, without),
        Kind.RECOVERY_POINT: _Turns(chance, RECOVERY_STEPS, without),
        Kind.REPLACED: _Turns(chance, (*TASK_STEPS, *COMMIT_STEPS[:4]), without),
        Kind.OUTAGE: _Turns(chance, (Step.DECIDED, Step.ENDING, Step.PREPARED), without),
    }
    faults = [_fault(chance, kind, turns.get(kind)) for kind in kinds]
    return _recovery_after_death(faults)


class _Turns:
    """Every step comes once before one comes again."""

    def __init__(
        self, chance: random.Random, steps: tuple[Step, ...], without: frozenset[Step]
    ) -> None:
        self._chance = chance
        self._steps = [step for step in steps if step not in without]
        self._left: list[Step] = []

    def next(self) -> Step:
        if not self._left:
            self._left = list(self._steps)
            self._chance.shuffle(self._left)
        return self._left.pop()


def _fault(chance: random.Random, kind: Kind, turns: _Turns | None) -> Fault:
    step = turns.next() if turns else None
    return Fault(
        kind=kind,
        step=step,
        skip=_skip(chance, step),
        victim=_victim(chance, kind),
        part=chance.choice(list(Part)),
        delay=round(chance.uniform(0, 0.8), 2),
        pause=round(chance.uniform(0, 4), 2),
        hurry=chance.random() < 0.2,
    )


def _skip(chance: random.Random, step: Step | None) -> int:
    """Tasks and sinks take these steps several times in a batch."""
    if step is Step.ENDING:
        return 1
    if step in (Step.BEGUN, Step.PREPARED, Step.ENDED):
        return chance.randrange(2)
    return 0


_VICTIMS: dict[Kind, Callable[[random.Random], Victim]] = {
    Kind.TASK_POINT: lambda chance: chance.choices(list(Victim), [6, 2, 2, 1])[0],
    Kind.COMMIT_POINT: lambda chance: chance.choices(list(Victim), [4, 5, 3, 1])[0],
    Kind.RECOVERY_POINT: lambda chance: chance.choices(list(Victim), [4, 4, 3, 1])[0],
}


def _victim(chance: random.Random, kind: Kind) -> Victim:
    choose = _VICTIMS.get(kind)
    return choose(chance) if choose else Victim.ITSELF


_DEADLY = {Kind.DRIVER_KILLED, Kind.OUTAGE, Kind.COMMIT_POINT}


def _recovery_after_death(faults: list[Fault]) -> list[Fault]:
    """The same faults; those in recovery moved behind those that end a driver."""
    recoveries = [fault for fault in faults if fault.kind is Kind.RECOVERY_POINT]
    ordered: list[Fault] = []
    for fault in faults:
        if fault.kind is Kind.RECOVERY_POINT:
            continue
        ordered.append(fault)
        if fault.kind in _DEADLY and recoveries:
            ordered.append(recoveries.pop(0))
    return ordered + recoveries

"""Each kind of fault, done to an installation that only writes down what is done to it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from tests.chaos import processes
from tests.chaos.control import drivers, injection
from tests.chaos.control.faults import Fault, Kind
from tests.chaos.control.injection import Injector
from tests.chaos.control.installation import Limits
from tests.chaos.faults import Part


@dataclass
class Platform:
    """Whoever is killed or stopped is replaced, or lost, at once."""

    done: list[str] = field(default_factory=list)
    leader: str = "jm-1"
    lost: bool = False
    attempt: int = 1
    run: str = "run"
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        names = ("web", "redis", "jm-1", "jm-2", "tm-1", "tm-2")
        self.services = {name: Process(self, name) for name in names}
        self.rest = SimpleNamespace(
            overview=lambda: {"jobmanager": self.leader},
            all_jobs=lambda: {"a": {"state": "RUNNING"}},
            taskmanagers_by_name=self.taskmanagers,
        )

    def taskmanagers(self) -> dict[str, Any]:
        state = "LOST" if self.lost else "REGISTERED"
        return {
            "tm-1": {"state": state, "pid": 1, "slot_set": [{"job": "a"}]},
            "tm-2": {"state": "REGISTERED", "pid": 1, "slot_set": [{"job": None}]},
        }

    def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return condition()

    def log(self, name: str) -> str:
        return "deposed" * self.done.count(f"{name} SIGCONT")


@dataclass
class Process:
    platform: Platform
    name: str
    child: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(pid=1))

    def kill(self) -> None:
        self._gone("killed")

    def start(self) -> None:
        self._back("started")

    def send(self, number: signal.Signals) -> None:
        (self._gone if number is signal.SIGSTOP else self._back)(number.name)

    def _gone(self, how: str) -> None:
        self.platform.done.append(f"{self.name} {how}")
        self.platform.lost = self.platform.lost or self.name == "tm-1"
        if self.name == self.platform.leader:
            self.platform.leader = "jm-2"

    def _back(self, how: str) -> None:
        self.platform.done.append(f"{self.name} {how}")
        self.platform.lost = self.platform.lost and self.name != "tm-1"


@pytest.mark.parametrize(
    ("kind", "steps"),
    [
        (Kind.LEADER_KILLED, ["jm-1 killed", "jm-1 started"]),
        (Kind.LEADER_PAUSED, ["jm-1 SIGSTOP", "jm-1 SIGCONT"]),
        (Kind.WEB_KILLED, ["web killed", "web started"]),
        (Kind.REDIS_KILLED, ["redis killed", "settled", "redis started"]),
        (Kind.TASKMANAGER_KILLED, ["tm-1 killed", "tm-1 started"]),
        (Kind.TASKMANAGER_AWAY, ["tm-1 killed", "settled", "tm-1 started"]),
        (Kind.TASKMANAGER_PAUSED, ["tm-1 SIGSTOP", "settled", "tm-1 SIGCONT"]),
        (Kind.DRIVER_KILLED, ["driver 1 SIGKILL"]),
        (Kind.DRIVER_STARTING, ["driver 1 SIGKILL", "driver 2 SIGKILL"]),
        (Kind.DRIVER_PAUSED, ["driver 1 SIGSTOP"]),
        (Kind.DRIVER_UNSEEN, ["tm-1 killed", "driver 1 SIGKILL", "tm-1 started"]),
        (Kind.DRIVER_LEADERLESS, ["driver 1 SIGKILL", "jm-1 killed", "jm-1 started"]),
    ],
)
def test_what_is_done_comes_back(
    kind: Kind, steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = Platform()

    def send(found: list[int], number: signal.Signals) -> int:
        platform.done.append(f"driver {found[0]} {number.name}")
        platform.attempt += number is signal.SIGKILL
        return len(found)

    monkeypatch.setattr(
        drivers, "living", lambda run: {"a": {platform.attempt: [platform.attempt]}}
    )
    monkeypatch.setattr(drivers, "leader", lambda found: [])
    monkeypatch.setattr(processes, "send", send)
    monkeypatch.setattr(injection, "_alive", lambda process: False)
    jobs: Any = [SimpleNamespace(id="a")]
    installation: Any = platform
    injector = Injector(installation, jobs, lambda: platform.done.append("settled"))

    assert injector.inject(Fault(kind, 0, Part.ALL, 0, 0))
    assert platform.done == steps
    assert len(injector.takeovers) == (platform.leader == "jm-2")

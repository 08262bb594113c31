"""Everything that a platform consists of, as processes of their own on real servers, and what a
service manager does for them: what has died is started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headrace.cli.configuration import Server
from tests.chaos import processes
from tests.chaos.broker import Broker
from tests.chaos.control.rest import Rest
from workers.embedded import jars, ports, process, redis
from workers.embedded.process import Child

ROOT = Path(__file__).parents[3]
JOBMANAGERS = ("jm-1", "jm-2")
TASKMANAGERS = ("tm-1", "tm-2")
#: What a job needs at least, with room for its Python workers.
SLOT_MIB = 1600
PREPARE_SECONDS = 300.0
STOP_SECONDS = 180.0
KILL_SECONDS = 60.0


class HarnessFault(Exception):
    """The run itself could not go on; says nothing about the platform."""


@dataclass(frozen=True)
class Limits:
    """Seconds until a silent TaskManager is lost, and until a silent driver is killed."""

    taskmanager: int = 20
    driver: int = 20


@dataclass
class Service:
    """One process that a service manager keeps running."""

    name: str
    launch: Callable[[], Child]
    child: Child | None = None
    #: The harness holds it back for a while.
    away: bool = False
    #: The harness has killed it.
    killed: bool = False

    def start(self) -> None:
        self.away = self.killed = False
        self.child = self.launch()

    @property
    def alive(self) -> bool:
        return self.child is not None and self.child.alive()

    def kill(self) -> None:
        """Dead when it returns, and not started again before `start`."""
        if self.child is None or not self.child.alive():
            raise HarnessFault(f"{self.name} was to be killed and does not run")
        self.away = self.killed = True
        self.child.signal(signal.SIGKILL)
        if not self.child.wait(KILL_SECONDS):
            raise HarnessFault(f"{self.name} outlives SIGKILL")

    def send(self, number: signal.Signals) -> None:
        if self.child is None or not self.child.alive():
            raise HarnessFault(f"{self.name} was to get {number.name} and does not run")
        self.child.signal(number)


class Installation:
    """Of one run. `slots` are those of each TaskManager."""

    def __init__(self, run: str, home: Path, jar_folder: Path, slots: int, limits: Limits) -> None:
        self.run, self.home, self._slots = run, home, slots
        self._web_port, self._redis_port = ports.free(), ports.free()
        self.limits = limits
        self._jars = jars.resolve("spark", jar_folder)
        (home / "jars").symlink_to(jar_folder.resolve())
        self.url = f"http://127.0.0.1:{self._web_port}"
        self.broker = Broker(home, jar_folder)
        self.services: dict[str, Service] = {}
        #: Services that ended though nobody has killed them.
        self.ends: Counter[str] = Counter()
        self.rest = Rest(Server(self.url, ""))

    # --- start ---

    def start(self) -> None:
        self._add("redis", lambda: redis.start(self.home, self._redis_port))
        self._manage("prepare")
        token = self._manage("create_token", "admin").strip()
        self.rest = Rest(Server(self.url, token))
        self._add("web", self._web)
        for name in JOBMANAGERS:
            self._own(name, "jobmanager", "--name", name)
        for name in TASKMANAGERS:
            slots, memory = str(self._slots), str(self._slots * SLOT_MIB)
            options = ("--name", name, "--slots", slots, "--memory-mib", memory)
            self._own(name, "taskmanager", *options)
        self.rest.overview()

    def _add(self, name: str, launch: Callable[[], Child]) -> None:
        self.services[name] = Service(name, launch)
        self.services[name].start()

    def _own(self, name: str, *command: str) -> None:
        self._add(name, lambda: self._python(name, "manage.py", *command))

    def _web(self) -> Child:
        command = ["-m", "uvicorn", "config.asgi:application", "--app-dir", "platform"]
        command += ["--host", "127.0.0.1", "--port", str(self._web_port), "--no-access-log"]
        return self._python("web", *command, "--timeout-graceful-shutdown", "2")

    def _python(self, name: str, *command: str) -> Child:
        return process.start(
            name,
            [sys.executable, *command],
            self.home,
            environment=self._environment(name),
            working_directory=ROOT,
        )

    def _manage(self, *command: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            env={**os.environ, **self._environment("prepare")},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PREPARE_SECONDS,
        )
        if done.returncode:
            raise HarnessFault(f"manage.py {command[0]}: {done.stderr[-1000:]}")
        return done.stdout

    def _environment(self, name: str) -> dict[str, str]:
        return {
            processes.VARIABLE: f"{self.run}/{name}/",
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'platform'}",
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": "",
            "HEADRACE_HOME": str(self.home),
            "HEADRACE_WEB_PORT": str(self._web_port),
            "HEADRACE_SHARED_STORAGE": str(self.home),
            "HEADRACE_SPARK_JARS": os.pathsep.join(map(str, self._jars)),
            "HEADRACE_DRIVER_TIMEOUT": str(self.limits.driver),
            "HEADRACE_STOP_TIMEOUT": "240",
            "HEADRACE_PROPERTIES": (
                f"heartbeat.interval: 2 s\nheartbeat.timeout: {self.limits.taskmanager} s\n"
                "restart-strategy.exponential-delay.max-backoff: 3 s"
            ),
            "REDIS_URL": redis.url(self._redis_port),
            "KAFKA_BOOTSTRAP_SERVERS": self.broker.servers,
            "SPARK_MASTER": "",
        }

    # --- what a service manager does ---

    def revive(self) -> None:
        """Start what has ended and is not held back; note what nobody has killed."""
        if not self.broker.child.alive():
            raise HarnessFault("the broker has ended, which none of the faults brings about")
        for service in self.services.values():
            if not service.alive and not service.away:
                self.ends[service.name] += not service.killed
                service.start()

    def until(self, condition: Callable[[], bool], seconds: float, *, pause: float = 0.2) -> bool:
        """Whether it came true in that time; services are kept running meanwhile."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            self.revive()
            time.sleep(pause)
        return True

    def log(self, name: str) -> str:
        return (self.home / "logs" / f"{name}.log").read_text(errors="replace")

    # --- end ---

    def stop(self) -> list[str]:
        """Stop all but the broker in order; who had to be killed."""
        unwilling = [
            name
            for name, service in reversed(self.services.items())
            if service.child is not None and service.alive and not service.child.stop(STOP_SECONDS)
        ]
        self.services.clear()
        return unwilling

    def end(self) -> None:
        """Nothing of it is left, however the run has gone."""
        for service in self.services.values():
            if service.child is not None and service.alive:
                service.child.signal(signal.SIGKILL)
                service.child.wait(KILL_SECONDS)
        processes.kill_all(f"{self.run}/")
        self.broker.stop()

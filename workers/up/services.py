"""The processes of one machine: how each starts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from workers.embedded import kafka, process, redis
from workers.embedded.process import Child
from workers.up.watch import Service

TASKMANAGER = "local"

#: Open pages hold a connection for their live updates; do not wait for them.
WEB_GRACE_SECONDS = 2


def kafka_broker() -> Service:
    def start() -> Child:
        return kafka.start(
            settings.HEADRACE_HOME, settings.HEADRACE_KAFKA_PORT, settings.HEADRACE_JARS
        )

    return Service(kafka.NAME, start, kafka.STOP_TIMEOUT_SECONDS)


def redis_server() -> Service:
    def start() -> Child:
        return redis.start(settings.HEADRACE_HOME, settings.HEADRACE_REDIS_PORT)

    return Service(redis.NAME, start, redis.STOP_TIMEOUT_SECONDS)


def web() -> Service:
    host, port = settings.HEADRACE_WEB_HOST, str(settings.HEADRACE_WEB_PORT)
    command = ["-m", "uvicorn", "config.asgi:application", "--app-dir", "platform"]
    command += ["--host", host, "--port", port, "--no-access-log", "--log-level", "warning"]
    command += ["--timeout-graceful-shutdown", str(WEB_GRACE_SECONDS)]
    return _python("web", command)


def jobmanager() -> Service:
    return _python("jobmanager", ["manage.py", "jobmanager"])


def taskmanager() -> Service:
    slots = str(settings.HEADRACE_SLOTS)
    command = ["manage.py", "taskmanager", "--name", TASKMANAGER, "--slots", slots]
    return _python("taskmanager", command, stop_timeout=20)


def replay(speed: float | None) -> Service:
    options = ["--speed", str(speed)] if speed else []
    return _python("replay", ["manage.py", "replay", *options], may_finish=True)


def _python(
    name: str, arguments: Sequence[str], *, stop_timeout: float = 15.0, may_finish: bool = False
) -> Service:
    """One of our own. One that an earlier `up` has left runs with that one's settings and code,
    so it is ended first; jobs do not notice."""
    home: Path = settings.HEADRACE_HOME

    def start() -> Child:
        if left := process.find(name, home):
            left.stop(stop_timeout)
        return process.start(
            name,
            [sys.executable, *arguments],
            home,
            environment={"PYTHONUNBUFFERED": "1"},
            working_directory=settings.CLONE,
        )

    return Service(name, start, stop_timeout, may_finish)

"""The processes of one machine: how each starts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings

from workers.embedded import kafka, process, redis
from workers.embedded.process import Child
from workers.up.watch import Service

TASKMANAGER = "local"

OWN = ("web", "jobmanager", "taskmanager", "replay")
STOP_SECONDS = 20.0

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
    return _python("taskmanager", command)


def replay(speed: float | None) -> Service:
    options = ["--speed", str(speed)] if speed else []
    return _python("replay", ["manage.py", "replay", *options], may_finish=True)


def left_over() -> list[Child]:
    """Our own processes that an `up` which was killed has left. They run with that one's settings
    and code; Kafka and Redis are not among them and are taken over as they are."""
    return [child for name in OWN if (child := process.find(name, settings.HEADRACE_HOME))]


def end(children: Sequence[Child]) -> None:
    """End them all at once; jobs do not notice."""
    with ThreadPoolExecutor(len(OWN)) as pool:
        list(pool.map(lambda child: child.stop(STOP_SECONDS), children))


def _python(name: str, arguments: Sequence[str], *, may_finish: bool = False) -> Service:
    def start() -> Child:
        return process.start(
            name,
            [sys.executable, *arguments],
            settings.HEADRACE_HOME,
            environment={"PYTHONUNBUFFERED": "1"},
            working_directory=settings.CLONE,
        )

    return Service(name, start, STOP_SECONDS, may_finish)

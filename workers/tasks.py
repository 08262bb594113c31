"""Celery tasks: word to a TaskManager that something waits for it in the tables, and small errands
that any of them may run."""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass, field
from typing import Any

import kombu.exceptions
import structlog

from workers import nudges
from workers.alerts import sending
from workers.app import app

log = structlog.get_logger(__name__)

#: Listened to by every TaskManager.
ANY_QUEUE = "headrace.any"


@dataclass(slots=True)
class Bell:
    """Rung by the task below, waited for by the supervisor of the same process."""

    rung: threading.Event = field(default_factory=threading.Event)


BELL = Bell()


@app.task(name="headrace.look", expires=30)  # type: ignore[untyped-decorator]
def look() -> None:
    """Look at the tables now instead of at the next tick. Harmless however often it comes."""
    BELL.rung.set()


@app.task(name="headrace.deliver", expires=30)  # type: ignore[untyped-decorator]
def deliver(pk: int) -> None:
    """Send a message about an alert. Sent once however often it comes; seconds long."""
    sending.deliver(pk)


def send_look(queue: str) -> bool:
    """Send word to the TaskManager of this queue; False when it did not get out."""
    return _send(look, queue)


def send_deliver(pk: int) -> bool:
    """Have any TaskManager send the message; False when word of it did not get out."""
    return _send(deliver, ANY_QUEUE, pk)


def _send(task: Any, queue: str, *arguments: Any) -> bool:
    line = nudges.line()
    if not line.is_open():
        return False
    try:
        connection = _connection(app.conf.broker_url)
        task.apply_async(
            arguments, queue=queue, ignore_result=True, retry=False, connection=connection
        )
    except (kombu.exceptions.OperationalError, OSError) as error:
        line.failed(error)
        return False
    return True


@functools.cache
def _connection(url: str) -> Any:
    """Of the sender's own: it fails fast, unlike that on which a worker waits for its tasks."""
    seconds = nudges.TIMEOUT_SECONDS
    return app.connection_for_write(
        url,
        connect_timeout=seconds,
        transport_options={"socket_timeout": seconds, "socket_connect_timeout": seconds},
    )

"""Celery tasks: word to a TaskManager that something waits for it in the tables."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import kombu.exceptions
import structlog

from workers import nudges
from workers.app import app

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Bell:
    """Rung by the task below, waited for by the supervisor of the same process."""

    rung: threading.Event = field(default_factory=threading.Event)


BELL = Bell()


@app.task(name="headrace.look", expires=30)  # type: ignore[untyped-decorator]
def look() -> None:
    """Look at the tables now instead of at the next tick. Harmless however often it comes."""
    BELL.rung.set()


def send_look(queue: str) -> bool:
    """Send word to the TaskManager of this queue; False when it did not get out."""
    line = nudges.line()
    if not line.is_open():
        return False
    try:
        look.apply_async(queue=queue, ignore_result=True, retry=False)
    except (kombu.exceptions.OperationalError, OSError) as error:
        line.failed(error)
        return False
    return True

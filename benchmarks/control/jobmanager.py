"""The JobManager as `manage.py jobmanager` runs it, with a note about each tick.

`python -m benchmarks.control.jobmanager <file>`: a line of JSON per tick, `Tick`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db import connection  # noqa: E402

from workers.jobmanager import JobManager  # noqa: E402


@dataclass(frozen=True)
class Tick:
    #: Seconds since 1970 at its end.
    at: float
    seconds: float
    #: Of this process, within the tick.
    cpu_seconds: float
    queries: int


class Measured(JobManager):
    def __init__(self, notes: Path) -> None:
        super().__init__("jobmanager")
        self._notes = notes.open("a", buffering=1)
        self._queries = 0

    def tick(self) -> None:
        self._queries = 0
        began, used = time.perf_counter(), time.process_time()
        with connection.execute_wrapper(self._count):
            super().tick()
        took, used = time.perf_counter() - began, time.process_time() - used
        self._notes.write(json.dumps(asdict(Tick(time.time(), took, used, self._queries))) + "\n")

    def _count(
        self, execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: Any
    ) -> Any:
        self._queries += 1
        return execute(sql, parameters, many, context)


def read(notes: Path, began: float, ended: float) -> list[Tick]:
    """The ticks that ended in a time."""
    ticks = (Tick(**json.loads(line)) for line in notes.read_text().splitlines())
    return [tick for tick in ticks if began <= tick.at < ended]


def main(notes: Path) -> None:
    jobmanager = Measured(notes)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: jobmanager.stop())
    jobmanager.run()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

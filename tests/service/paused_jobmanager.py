"""A real JobManager that stops itself (SIGSTOP) between deciding on a step and writing it, and
after it was woken first tries a write that nothing but its epoch can refuse.

Run as `paused_jobmanager.py <name> <file>`: it stops once the file is there, and removes it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import django


def main(name: str, sign: Path) -> None:
    from jobs import leases
    from jobs.models import Event
    from workers.jobmanager import JobManager

    guard = leases.guard

    @contextlib.contextmanager
    def pausing(held: leases.Held) -> Iterator[None]:
        if sign.exists():
            sign.unlink()
            os.kill(os.getpid(), signal.SIGSTOP)
            with guard(held):
                Event.objects.create(kind=Event.Kind.ACTION, message="a late write")
        with guard(held):
            yield

    leases.guard = pausing
    jobmanager = JobManager(name)
    signal.signal(signal.SIGTERM, lambda *_: jobmanager.stop())
    jobmanager.run()


if __name__ == "__main__":
    django.setup()
    main(sys.argv[1], Path(sys.argv[2]))

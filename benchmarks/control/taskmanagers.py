"""Many TaskManagers: each a process of its own that runs what `manage.py taskmanager` runs.

`python -m benchmarks.control.taskmanagers <number> <slots of each>`. They are forked from one that
has imported everything, which saves memory and a minute of imports, and nothing else. Ends them all
at SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from workers import taskmanager  # noqa: E402

MEMORY_MIB = 1600


def main(number: int, slots: int) -> None:
    pids = [_fork(f"tm-{index:03d}", slots) for index in range(number)]

    def end(*_: object) -> None:
        for pid in pids:
            os.kill(pid, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    for pid in pids:
        os.waitpid(pid, 0)


def _fork(name: str, slots: int) -> int:
    if pid := os.fork():
        return pid
    offer = taskmanager.Offer(name, slots, slots * MEMORY_MIB)
    os._exit(taskmanager.run(offer, log_level="WARNING"))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

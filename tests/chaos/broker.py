"""A broker of the run's own, because it is killed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from workers.embedded import kafka as embedded
from workers.embedded import ports
from workers.embedded.process import Child

#: Transactions that are past their timeout are looked for this often: 10 s in production.
SETTINGS = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000"}


class Broker:
    def __init__(self, home: Path, jar_folder: Path) -> None:
        self.home = home
        self._jar_folder = jar_folder
        self._port = ports.free()
        self.servers = embedded.bootstrap_servers(self._port)
        self.child: Child = self.start()

    def start(self) -> Child:
        self.child = embedded.start(self.home, self._port, self._jar_folder, SETTINGS)
        return self.child

    def kill(self) -> None:
        os.kill(self.child.pid, signal.SIGKILL)
        if not self.child.wait(10):
            raise TimeoutError("the broker outlives SIGKILL")

    def come_back(self, pause: float) -> None:
        """Start it after a pause; returns when it answers."""
        time.sleep(pause)
        self.start()

    def stop(self) -> None:
        embedded.stop(self.child)

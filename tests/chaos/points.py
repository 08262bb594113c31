"""Crash points, the harness's side: which process is to halt where, by files in one folder.

    armed-<step>-<n>   halt at the step, after letting it pass n times; content: seconds to linger
    taking-<pid>       a process is there and lingers, while its other threads go on
    hit-<pid>          the process is halted (SIGSTOP)

The other side is `site/sitecustomize.py`, in every process of the workload.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil

from headrace.connectors.twophase.steps import Step

VARIABLE = "HEADRACE_CHAOS_POINTS"


@dataclass(frozen=True)
class Points:
    folder: Path

    def arm(self, step: Step, skip: int = 0, linger: float = 0.0) -> None:
        self.clear()
        new = self.folder / "new"
        new.write_text(str(linger))
        new.rename(self.folder / f"armed-{step.value}-{skip}")

    def halted(self) -> psutil.Process | None:
        """The process that is halted at the armed step, once it is."""
        for path in self.folder.glob("hit-*"):
            try:
                process = psutil.Process(int(path.name.removeprefix("hit-")))
                if process.status() == psutil.STATUS_STOPPED:
                    return process
            except psutil.NoSuchProcess:
                path.unlink()
        return None

    def clear(self) -> None:
        """Nobody halts any more. Who is halted already stays so."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.glob("*-*"):
            path.unlink(missing_ok=True)

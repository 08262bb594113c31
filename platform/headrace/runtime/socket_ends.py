"""Sockets whose servers have closed the connection: sources that end while the job runs."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from headrace.runtime import spark_sources
from headrace.runtime.program import Program
from headrace.runtime.sources import SocketSource


class SocketEnds:
    """Of one attempt; another one connects again."""

    def __init__(self, program: Program, state_dir: Path) -> None:
        self._splits = {f"{number}:0" for number in program.sources}
        self._files = {
            f"{number}:0": spark_sources.closed_socket(state_dir, position)
            for position, (number, source) in enumerate(program.sources.items(), 1)
            if isinstance(source, SocketSource)
        }

    def forget(self) -> None:
        """Before the sockets are connected."""
        for file in self._files.values():
            file.unlink(missing_ok=True)

    def closed(self) -> set[str]:
        """ "<source's node>:<split>" of those whose lines are all processed."""
        return {split for split, file in self._files.items() if file.exists()}

    def ended_last(self, told: Collection[str]) -> bool:
        """Whether nothing comes any more, as sockets have closed and other sources have ended."""
        others = self._splits - self._files.keys()
        return bool(self._files) and self.closed() == self._files.keys() and others <= set(told)

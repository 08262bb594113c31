"""Spark's own log of a query's offsets: where each source stands, and how it is moved on.

Files of a checkpoint: `offsets/N` is where batch N ends, written before it runs; `commits/N` says
that it has run; `sources/I/0` is where source I began. A source is known by its position.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.wire import rundir

#: Of a source that has no offset yet.
_NONE = "-"


def newest(log: Path) -> int | None:
    """The newest batch in one of Spark's logs."""
    return max((int(p.name) for p in log.glob("*") if p.name.isdigit()), default=None)


@dataclass(frozen=True)
class SparkOffsets:
    """Reads while a query runs, writes only while none does."""

    checkpoint: Path

    @property
    def planned(self) -> int | None:
        return newest(self.checkpoint / "offsets")

    @property
    def completed(self) -> int | None:
        return newest(self.checkpoint / "commits")

    @property
    def has_state(self) -> bool:
        return (self.checkpoint / "state").exists()

    def partitions(self, batch: int) -> int:
        """Over how many tasks state was spread when the batch was planned."""
        metadata = json.loads(self._lines(batch)[1])
        return int(metadata["conf"]["spark.sql.shuffle.partitions"])

    def stood_still(self, batch: int, source: int) -> bool:
        """Whether a batch, not the first, found nothing new in a source."""
        return self._line(batch, source) == self._line(batch - 1, source)

    def next_start(self, source: int) -> Any:
        """What the next batch, or the one to be run again, starts from; None: not known yet."""
        batch = self.completed
        line = _NONE if batch is None else self._line(batch, source)
        if line != _NONE:
            return json.loads(line)
        initial = self._initial(source)
        return json.loads(initial.read_text().splitlines()[1]) if initial.exists() else None

    def ends(self, batch: int) -> list[Any]:
        """Where every source stands behind a batch, in Spark's order; None: it has not begun."""
        lines = self._lines(batch)[2:]
        return [None if line == _NONE else json.loads(line) for line in lines]

    def plan(self, changes: dict[int, Any], now: int) -> None:
        """Plan the batch behind the newest, with the ends of some sources changed and nothing to
        read of the others; `now` is its time, ms since 1970. Spark's next query runs it first."""
        batch = self.completed
        assert batch is not None and batch == self.planned
        lines = self._lines(batch)
        lines[1] = json.dumps({**json.loads(lines[1]), "batchTimestampMs": now})
        for source, end in changes.items():
            lines[2 + source] = json.dumps(end)
        _write(self.checkpoint / "offsets" / str(batch + 1), "\n".join(lines))

    def planned_end(self, source: int) -> Any:
        """Where a batch ends that was planned and has not run; None: there is none."""
        planned = self.planned
        if planned is None or planned == self.completed:
            return None
        line = self._line(planned, source)
        return None if line == _NONE else json.loads(line)

    def move(self, source: int, change: Callable[[Any], Any]) -> None:
        """Change where the source stands: at the start of the next batch, and at the end of one
        that was planned and has not run. The start comes last: until then it says what is to be
        changed."""
        batch, planned = self.completed, self.planned
        for each in sorted({n for n in (batch, planned) if n is not None}, reverse=True):
            line = self._line(each, source)
            if line != _NONE:
                self._write_line(each, source, json.dumps(change(json.loads(line))))
        initial = self._initial(source)
        if initial.exists() and (batch is None or self._line(batch, source) == _NONE):
            head, line = initial.read_text().splitlines()[:2]
            _write(initial, f"{head}\n{json.dumps(change(json.loads(line)))}")

    def _initial(self, source: int) -> Path:
        return self.checkpoint / "sources" / str(source) / "0"

    def _lines(self, batch: int) -> list[str]:
        return (self.checkpoint / "offsets" / str(batch)).read_text().splitlines()

    def _line(self, batch: int, source: int) -> str:
        return self._lines(batch)[2 + source]  # behind the version and the batch's metadata

    def _write_line(self, batch: int, source: int, line: str) -> None:
        lines = self._lines(batch)
        lines[2 + source] = line
        _write(self.checkpoint / "offsets" / str(batch), "\n".join(lines))


def _write(path: Path, text: str) -> None:
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)  # of the content before
    rundir.write_atomically(path, text.encode())

"""A driver's log by byte range: never the whole file, whatever it has grown to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headrace.wire import rundir

MAX_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Piece:
    """Text from byte `start` up to byte `end` (ask for `end` next) of a file of `size` bytes."""

    text: str
    start: int
    end: int
    size: int


def read(run_dir: str | Path, offset: int | None = None, limit: int = 64 * 1024) -> Piece:
    """From byte `offset` on; the last `limit` bytes without one. Empty when there is no log.

    A piece ends at a line's end when it can, so no character is torn. An offset behind the end
    of the file answers with nothing, from the end."""
    path = Path(run_dir) / rundir.LOG
    limit = max(1, min(limit, MAX_BYTES))
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            start = max(0, size - limit) if offset is None else min(max(0, offset), size)
            file.seek(start)
            data = file.read(limit)
    except FileNotFoundError:
        return Piece("", 0, 0, 0)
    if offset is None and start > 0:
        cut = data.find(b"\n") + 1
        start, data = start + cut, data[cut:]
    whole = data.rfind(b"\n") + 1
    if 0 < whole < len(data):
        data = data[:whole]
    return Piece(data.decode("utf-8", errors="replace"), start, start + len(data), size)

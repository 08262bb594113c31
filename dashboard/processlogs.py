"""The logs of TaskManagers and JobManagers as lines, read by range; secrets are hidden."""

from __future__ import annotations

from dashboard import loglines
from dashboard.loglines import CHUNK, Line, Lines
from jobs import log_files
from jobs.log_files import LogFile


def tail(log: LogFile) -> Lines:
    return _read(log, max(0, log.size - CHUNK), log.size)


def after(log: LogFile, position: int) -> Lines:
    """What follows `position`; the tail when more than a chunk has come, or the log is shorter
    now."""
    if log.size < position or log.size - position > CHUNK:
        return tail(log)
    return _read(log, position, log.size)


def before(log: LogFile, position: int) -> Lines:
    """The chunk that ends where the line at `position` begins."""
    end = min(position, log.size)
    return _read(log, max(0, end - CHUNK), end)


def _read(log: LogFile, start: int, end: int) -> Lines:
    """From a line's beginning to a line's end, so that no character is torn."""
    data = b"".join(log_files.pieces(log, start, end))
    if start and start + CHUNK <= end:
        cut = data.find(b"\n") + 1
        start, data = start + cut, data[cut:]
    whole = data.rfind(b"\n") + 1
    if 0 < whole < len(data):
        data = data[:whole]
    text = data.decode("utf-8", errors="replace")
    lines = [Line(line, loglines.colour(line)) for line in text.splitlines()]
    return Lines(lines, start, start + len(data), log.size)

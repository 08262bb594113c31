"""A driver's log as lines that stand out by their level, read by range."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from headrace.wire import rundir
from jobs import logtail

#: Bytes of one answer to a page.
CHUNK = 64 * 1024

_LEVEL = re.compile(r"\b(ERROR|FATAL|CRITICAL|WARN|WARNING|DEBUG|TRACE)\b")
_RAISED = re.compile(r"Traceback \(most recent|(Caused by: )?[\w.]*(Error|Exception)\b")
_COLOURS = {"WARN": "warn", "WARNING": "warn", "DEBUG": "quiet", "TRACE": "quiet"}


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    #: "bad", "warn", "quiet", or "" for anything else.
    colour: str


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines between two byte positions of a log of `size` bytes."""

    lines: list[Line]
    start: int
    end: int
    size: int


def tail(run_dir: str) -> Lines:
    return _lines(logtail.read(run_dir, limit=CHUNK))


def after(run_dir: str, position: int) -> Lines:
    """What follows `position`; the tail when more than a chunk has come meanwhile, so that a
    page that slept catches up in one read, or when the log is shorter now."""
    piece = logtail.read(run_dir, position, CHUNK)
    if piece.size < position or piece.size - position > CHUNK:
        return tail(run_dir)
    return _lines(piece)


def before(run_dir: str, position: int) -> Lines:
    """The chunk that ends where the line at `position` begins."""
    start = max(0, position - CHUNK)
    piece = logtail.read(run_dir, start, max(1, position - start))
    if start == 0:
        return _lines(piece)
    _, _, rest = piece.text.partition("\n")
    cut = len(piece.text.encode()) - len(rest.encode())
    return _lines(logtail.Piece(rest, piece.start + cut, piece.end, piece.size))


def _lines(piece: logtail.Piece) -> Lines:
    lines = [Line(text, colour(text)) for text in piece.text.splitlines()]
    return Lines(lines, piece.start, piece.end, piece.size)


def exists(run_dir: str) -> bool:
    return (Path(run_dir) / rundir.LOG).exists()


def colour(text: str) -> str:
    """By the level the line names, or because an error is named first."""
    found = _LEVEL.search(text, 0, 120)
    if found:
        return _COLOURS.get(found[1], "bad")
    return "bad" if _RAISED.match(text) else ""

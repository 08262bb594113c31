"""A driver's log as lines that stand out by their level, read by range."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from headrace.wire import rundir
from jobs import logtail

#: Bytes of one answer to a page.
CHUNK = 64 * 1024
#: Of one search: matches, bytes gone through, bytes taken as one line, characters shown of it.
MATCHES, SEARCHED, LONGEST, SHOWN = 200, 64 * 1024 * 1024, 64 * 1024, 1_000

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


def at(run_dir: str, position: int) -> Lines:
    """A chunk that begins with the line at `position`."""
    return _lines(logtail.read(run_dir, position, CHUNK))


@dataclass(frozen=True, slots=True)
class Match:
    """A line that has the words; `start` is its place in bytes."""

    start: int
    line: Line


@dataclass(frozen=True, slots=True)
class Found:
    """Matches in order, from byte `begin` up to byte `end`; there is more behind it if that is
    below `size`."""

    matches: list[Match]
    begin: int
    end: int
    size: int


def find(run_dir: str, words: str, begin: int = 0) -> Found:
    """Lines with these words, upper and lower case alike: at most MATCHES, within SEARCHED bytes
    from `begin` on. Nothing where there is no log."""
    wanted = words.lower()
    matches: list[Match] = []
    try:
        with (Path(run_dir) / rundir.LOG).open("rb") as file:
            size = file.seek(0, 2)
            end = file.seek(min(begin, size))
            while end < size and end - begin < SEARCHED and len(matches) < MATCHES:
                data = file.readline(LONGEST)
                text = data.decode("utf-8", errors="replace").rstrip("\r\n")
                if wanted in text.lower():
                    matches.append(Match(end, Line(text[:SHOWN], colour(text))))
                end += len(data)
    except FileNotFoundError:
        return Found([], 0, 0, 0)
    return Found(matches, begin, end, size)


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

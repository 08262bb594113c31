"""The driver's numbered journal: JSON lines, appended by one driver, read by its TaskManager.

Each line is `{"n": 1, "at": <ms>, "kind": ..., ...}` with n growing by one; figures are packed,
`{"n", "at", "kind", "packed": <base64 of zlib of JSON>}`. A reader keeps the position behind the
last line it recorded and goes on from there, so each event is recorded exactly once whoever was
down meanwhile. A last line without its newline is not read yet: the driver may have died, or be,
in the middle of writing it.

A job may run for months: what is recorded is forgotten but for the last megabytes of it. The file
has a hole there, so positions stay what they are.
"""

from __future__ import annotations

import base64
import json
import os
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.wire import events, holes, rundir, text

#: Bytes before a reader's position that are kept, to be looked at; more go so many at a time.
KEPT, STEP = 8 << 20, 1 << 20
#: Bytes at the end in which the last whole line is looked for first.
_TAIL = 1 << 16


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: its number, its time (ms since 1970), its event, and the position behind it."""

    number: int
    at: int
    event: events.Event
    position: int


class JournalWriter:
    """Appends events; safe to call from several threads of the driver."""

    def __init__(self, run_dir: Path) -> None:
        self._path = run_dir / rundir.JOURNAL
        self._lock = threading.Lock()
        self._number = self._cut_torn_line()
        self._file = self._path.open("ab")

    def _cut_torn_line(self) -> int:
        """Drop a half-written last line; the number of the last whole one."""
        if not self._path.exists():
            return 0
        size, length = self._path.stat().st_size, _TAIL
        while True:
            data = _end(self._path, length)
            whole = data[: data.rfind(b"\n") + 1]
            if whole.count(b"\n") > 1 or length >= size:
                break
            length *= 8
        if len(whole) < len(data):
            os.truncate(self._path, size - (len(data) - len(whole)))
        lines = whole.splitlines()
        return int(json.loads(lines[-1])["n"]) if lines else 0

    def append(self, event: events.Event, *, durable: bool = True) -> int:
        """Write one event; on disk when it returns if `durable`. Its number."""
        with self._lock:
            self._number += 1
            values = event.to_json()
            if isinstance(event, events.Measured):
                values = _packed(values)
            line = {"n": self._number, "at": int(time.time() * 1000), **values}
            self._file.write(json.dumps(line, default=str).encode() + b"\n")
            self._file.flush()
            if durable:
                os.fsync(self._file.fileno())
            return self._number

    def close(self) -> None:
        with self._lock:
            self._file.close()


def read(run_dir: Path, position: int = 0, limit: int = 1000) -> Iterator[Entry]:
    """Up to `limit` whole entries from byte `position` on; none when there is no journal yet.

    Their text can be stored in any database: `headrace.wire.text`.
    A damaged line raises ValueError that names file and position, and so does a forgotten one."""
    path = run_dir / rundir.JOURNAL
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(position)
        if file.peek(1)[:1] == b"\0":
            raise ValueError(
                f"damaged line in {path} behind byte {position}: zeros, as where it was recorded "
                "and forgotten; events behind it are not recorded"
            )
        for _ in range(limit):
            line = file.readline()
            if not line.endswith(b"\n"):
                return
            position += len(line)
            yield _entry(line, position, path)


def forget(run_dir: Path, before: int, position: int) -> None:
    """What comes before `position` is recorded; to be called whenever it has moved on from
    `before`. Where files can have no holes the journal stays whole."""
    until = (position - KEPT) // STEP * STEP
    if until > 0 and until > before - KEPT:
        holes.punch(run_dir / rundir.JOURNAL, until)


def _end(path: Path, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - length))
        return file.read()


def _packed(values: dict[str, Any]) -> dict[str, Any]:
    """Figures come every few seconds for as long as a job runs, with the same names each time: a
    quarter of the bytes."""
    body = zlib.compress(json.dumps(values, default=str).encode())
    return {"kind": values["kind"], "packed": base64.b64encode(body).decode()}


def _unpacked(values: dict[str, Any]) -> dict[str, Any]:
    packed = values.pop("packed", None)
    if packed is None:
        return values
    return {**values, **_loads(zlib.decompress(base64.b64decode(packed)))}


def _loads(data: bytes) -> Any:
    """NaN and infinity, which no database takes, as None: one such number would keep the row that
    holds it, and all events behind it, from ever being recorded."""
    return json.loads(data, parse_constant=lambda _: None)


def _entry(line: bytes, position: int, path: Path) -> Entry:
    try:
        values: dict[str, Any] = text.all_storable(_unpacked(_loads(line)))
        return Entry(values["n"], values["at"], events.from_json(values), position)
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise ValueError(
            f"damaged line in {path} before byte {position}: {error}; "
            "events behind it are not recorded"
        ) from error

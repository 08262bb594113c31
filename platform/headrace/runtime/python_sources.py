"""Sources in Python for Spark: collections, sockets, and the job's own control rows."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow

from headrace.runtime import frames, spark_offsets
from headrace.runtime.socket_lines import SocketLines
from headrace.wire import rundir

#: Values of a collection in one row of Spark.
CHUNK = 1000


class _Rows(InputPartition):
    """Rows that travel inside the partition itself."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        super().__init__(rows)
        self.rows = rows


class _Reader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A reader whose offset is one growing number and whose rows the driver's side holds."""

    #: Where a query that ends with what is available ends.
    _until: int | None = None

    def initialOffset(self) -> dict[str, int]:
        return {"position": 0}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        position = self.position(start["position"]) if self._until is None else self._until
        return {"position": max(position, start["position"])}

    def prepareForTriggerAvailableNow(self) -> None:
        self._until = self.position(0)

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[_Rows]:
        return [_Rows(self.rows(start["position"], end["position"]))]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        assert isinstance(partition, _Rows)
        return iter(partition.rows)

    def position(self, start: int) -> int:
        """How far rows are there; `start` is where the query stands."""
        raise NotImplementedError

    def rows(self, start: int, end: int) -> list[tuple[Any, ...]]:
        raise NotImplementedError


class CollectionData(DataSource):
    """Option `path`: a pickled sequence of values. Rows: (values: pickled list)."""

    @classmethod
    def name(cls) -> str:
        return "headrace-collection"

    def schema(self) -> str:
        return "values binary"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return _CollectionReader(Path(self.options["path"]))


class _CollectionReader(_Reader):
    def __init__(self, path: Path) -> None:
        self._path = path
        self._values: tuple[Any, ...] | None = None

    def position(self, start: int) -> int:
        return len(self._all())

    def rows(self, start: int, end: int) -> list[tuple[Any, ...]]:
        values = self._all()
        return [
            (frames.dumps(values[at : min(at + CHUNK, end)]),) for at in range(start, end, CHUNK)
        ]

    def _all(self) -> tuple[Any, ...]:
        if self._values is None:
            self._values = pickle.loads(self._path.read_bytes())
        return self._values


class SocketData(DataSource):
    """Options `host`, `port`, and `closed`: a file that is made when all lines of a server that
    closed the connection are processed. Rows: (values: pickled list of lines)."""

    @classmethod
    def name(cls) -> str:
        return "headrace-socket"

    def schema(self) -> str:
        return "values binary"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        host, port = self.options["host"], int(self.options["port"])
        return _SocketReader(host, port, Path(self.options["closed"]))


class _SocketReader(_Reader):
    """Lines are kept until their batch is committed; a restored query counts on. What an earlier
    driver had read and not committed cannot be read again."""

    def __init__(self, host: str, port: int, closed: Path) -> None:
        self._lines = SocketLines(host, port)
        self._closed = closed

    def __getstate__(self) -> dict[str, Any]:
        return {"arguments": (*self._lines.address, self._closed)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["arguments"])  # type: ignore[misc]

    def position(self, start: int) -> int:
        if self._closed.exists():
            return start
        closed = self._lines.closed  # before the count: what came before it is all there
        position = self._lines.received(start)
        if closed and position <= start:
            self._closed.touch()
        return position

    def rows(self, start: int, end: int) -> list[tuple[Any, ...]]:
        lines = self._lines.between(start, end)
        return [(pickle.dumps(lines, 5),)] if lines else []

    def commit(self, end: dict[str, int]) -> None:
        self._lines.forget(end["position"])


#: Beside the control file: the query is to stop, so nobody waits for a pause to be over.
STOPPING = "stopping"
_PAUSE_SLICE_SECONDS = 0.05


class ControlData(DataSource):
    """Option `path`: the control file; `pause`: how many milliseconds a batch begins behind the
    end of the one before at the least. Rows: (ended boolean, splits: JSON list of those that have
    ended), one per batch with ticks of the driver."""

    @classmethod
    def name(cls) -> str:
        return "headrace-control"

    def schema(self) -> str:
        return "ended boolean, splits string"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return _ControlReader(Path(self.options["path"]), int(self.options.get("pause", "0")))


class _ControlReader(_Reader):
    def __init__(self, path: Path, pause_ms: int) -> None:
        self._path = path
        self._pause = pause_ms / 1000
        self._commits = path.parent.parent / "spark" / "commits"

    def position(self, start: int) -> int:
        """Spark asks before each batch."""
        if self._pause:
            self._rest()
        return ControlFile(self._path).read()[0]

    def _rest(self) -> None:
        newest = spark_offsets.newest(self._commits)
        if newest is None:
            return
        ended = (self._commits / str(newest)).stat().st_mtime
        until = time.monotonic() + min(self._pause, ended + self._pause - time.time())
        while time.monotonic() < until and not self._path.with_name(STOPPING).exists():
            time.sleep(_PAUSE_SLICE_SECONDS)

    def rows(self, start: int, end: int) -> list[tuple[Any, ...]]:
        control = ControlFile(self._path)
        _, ended_at = control.read()
        splits = [split for split, tick in control.told().items() if start < tick <= end]
        ended = ended_at is not None and end >= ended_at
        return [(ended, json.dumps(splits))] if end > start else []


class ControlFile:
    """How the driver's main thread reaches the control source: ticks, splits that have ended, and
    the end of all input.

    Lives beside the checkpoint, so that ticks go on growing after a restart."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> tuple[int, int | None]:
        """(newest tick, tick at which input ended or None)."""
        values = self._values()
        return values["tick"], values["ended_at"]

    def told(self) -> dict[str, int]:
        """Splits that have ended: "<source's node>:<split>" -> the tick that says so."""
        return dict(self._values().get("splits", {}))

    def tick(self) -> None:
        """Make one batch run, so that time goes on without data."""
        self._next({})

    def end_splits(self, splits: Iterable[str]) -> None:
        """The next batch carries to the operators that nothing more comes from these splits."""
        tick, told = self.read()[0] + 1, self.told()
        self._next({"splits": {**dict.fromkeys(splits, tick), **told}})

    def end(self) -> None:
        """All input has been read; one more batch carries that to the operators."""
        tick, ended_at = self.read()
        if ended_at is None:
            self._next({"ended_at": tick + 1})

    def _values(self) -> dict[str, Any]:
        try:
            values: dict[str, Any] = json.loads(self._path.read_text())
        except FileNotFoundError:
            return {"tick": 0, "ended_at": None, "splits": {}}
        return values

    def _next(self, change: dict[str, Any]) -> None:
        values = self._values()
        content = {**values, **change, "tick": values["tick"] + 1}
        rundir.write_atomically(self._path, json.dumps(content).encode())

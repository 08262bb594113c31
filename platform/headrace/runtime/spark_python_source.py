"""Custom Python sources on Spark."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import cloudpickle
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow

from headrace.datastream.connectors.python_source import PythonSource, SourceContext, stamped
from headrace.runtime import frames
from headrace.runtime.parts import Part
from headrace.runtime.python_sources import CHUNK
from headrace.wire import rundir

#: The one split of a Python source.
SPLIT = "0"


class PythonSourceData(DataSource):
    """Options `source`: path of the pickled PythonSource, `state_dir`, `parallelism`. Rows:
    (values: pickled list of (timestamp or None, value))."""

    @classmethod
    def name(cls) -> str:
        return "headrace-python-source"

    def schema(self) -> str:
        return "values binary"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        body = Path(self.options["source"]).read_bytes()
        state_dir = Path(self.options["state_dir"])
        return PythonSourceReader(body, SourceContext(state_dir, int(self.options["parallelism"])))


class Piece(InputPartition):
    """What one task reads."""

    def __init__(self, piece: Any) -> None:
        super().__init__(piece)
        self.piece = piece


class PythonSourceReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are the source's positions; on its way to the tasks only its pickled form goes."""

    def __init__(self, body: bytes, context: SourceContext) -> None:
        self._body = body
        self._context = context
        self._opened: PythonSource | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_body": self._body, "_context": self._context, "_opened": None}

    def initialOffset(self) -> dict[str, Any]:
        return {"position": self._source.start()}

    def prepareForTriggerAvailableNow(self) -> None:
        """Only a job whose sources all end is run so: it is read to its end anyway."""

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        return {"position": _plain(self._source.latest(start["position"]))}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[Piece]:
        return [Piece(each) for each in self._source.pieces(start["position"], end["position"])]

    def read(self, partition: InputPartition) -> Iterator[tuple[bytes]]:
        assert isinstance(partition, Piece)
        source: PythonSource = cloudpickle.loads(self._body)
        return chunks(stamped(source.read(partition.piece)))

    def commit(self, end: dict[str, Any]) -> None:
        self._source.committed(end["position"])

    def stop(self) -> None:
        if self._opened is not None:
            self._opened.close()

    @property
    def _source(self) -> PythonSource:
        if self._opened is None:
            self._opened = cloudpickle.loads(self._body)
            self._opened.open(self._context)
        return self._opened


def chunks(elements: Iterable[tuple[int | None, Any]]) -> Iterator[tuple[bytes]]:
    """Rows of so many values each."""
    remaining = iter(elements)
    while some := list(islice(remaining, CHUNK)):
        yield (frames.dumps(some),)


def decode(batch: pa.RecordBatch) -> Iterator[Part]:
    for chunk in batch.column("values"):
        yield Part.of_python(SPLIT, frames.loads(chunk.as_py()))


def options(source: PythonSource, path: Path, parallelism: int) -> dict[str, str]:
    """For `PythonSourceData`; the source is left at `path`, which outlives the run."""
    rundir.write_atomically(path, cloudpickle.dumps(source, 5))
    return {
        "source": str(path),
        "state_dir": str(path.parent),
        "parallelism": str(parallelism),
    }


def _plain(position: Any) -> Any:
    """As it comes back from the checkpoint. Raises TypeError for what is no JSON."""
    return json.loads(json.dumps(position))

"""Reads the keyed state of a checkpoint as DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headrace.common.type_hints import type_of
from headrace.common.typeinfo import (
    DataclassTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    NotNullTypeInfo,
    RowTypeInfo,
    TypeInformation,
    Types,
)
from headrace.datastream import state as api
from headrace.runtime import stored_state
from headrace.runtime.arrow_rows import RowsToColumns
from headrace.runtime.stored_state import Reading
from headrace.wire import savepoint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TWS = "transformWithState"


@dataclass(frozen=True)
class OperatorState:
    """A state of an operator. `kind` is what is stored: "value", "list", "map" or "broadcast";
    "timers" for those of both kinds of time; "window" for the contents of windows; "internal" for
    what operators keep for themselves. `entries`: keys, or keys and windows, that have it."""

    uid: str
    name: str
    kind: str
    entries: int


class SavepointReader:
    """Reads one checkpoint, as of its newest batch, or of an older one that is still there."""

    def __init__(self, session: SparkSession, path: str, batch: int | None) -> None:
        self._session = session
        self._path = path
        self._batch = batch

    @staticmethod
    def read(session: SparkSession, path: str | Path, batch: int | None = None) -> SavepointReader:
        """`path` is a job's checkpoint directory, a copy of it, a savepoint where it was made, or
        the checkpointLocation of a query with `to_dataframe`. It is only read; the job may run
        meanwhile. `batch` is Spark's: the number of a checkpoint less one. Raises
        FileNotFoundError."""
        folder = Path(path)
        if (folder / savepoint.MANIFEST).is_file():
            folder /= savepoint.CONTENT
        folder = folder / "spark" if (folder / "spark").is_dir() else folder
        if not (folder / "commits").is_dir():
            raise FileNotFoundError(f"{path} is no checkpoint: no batch was committed in it")
        return SavepointReader(session, str(folder.absolute()), batch)

    def operators(self) -> list[OperatorState]:
        """All states that there are, by operator. Reads all state."""
        from pyspark.sql import functions as F

        kind = Types.ROW_NAMED(["uid", "name", "kind"], [Types.STRING()] * 3)
        found = self._read(stored_state.Names(), kind)
        counted = found.groupBy("uid", "name", "kind").agg(F.count("*").alias("entries"))
        rows = counted.orderBy("uid", "name").collect()
        return [OperatorState(*row) for row in rows]

    def read_keyed_state(
        self, uid: str, descriptor: api.StateDescriptor, key_type: Any = None
    ) -> DataFrame:
        """(key, value) of a state, as the operator's function declares it: of value state and
        reducing state the value, of aggregating state the accumulator (as the descriptor's type),
        of list state an array, of map state a map. `key_type` is that of the key, STRING unless
        given."""
        reading = stored_state.Keyed(uid, descriptor.name)
        return self._read(reading, _row(("key", _key(key_type)), ("value", _value(descriptor))))

    def read_broadcast_state(self, uid: str, descriptor: api.MapStateDescriptor) -> DataFrame:
        """(key, value) of the entries of a broadcast state."""
        reading = stored_state.Broadcast(uid, descriptor.name)
        kinds = ("key", type_of(descriptor.key_type_info)), ("value", type_of(descriptor.type_info))
        return self._read(reading, _row(*kinds)).distinct()

    def read_windows(self, uid: str, content_type: Any, key_type: Any = None) -> DataFrame:
        """(key, window_start, window_end, content) of windows that are open; start and end in ms,
        NULL where windows are not of time. `content_type`: of the accumulator or reduced value, or
        a list of elements for windows that collect them."""
        content = type_of(content_type)
        ends = (("window_start", Types.LONG()), ("window_end", Types.LONG()))
        kind = _row(("key", _key(key_type)), *ends, ("content", content))
        return self._read(stored_state.Windows(uid), kind)

    def read_timers(self, uid: str, key_type: Any = None) -> DataFrame:
        """(key, time, domain, window_start, window_end) of timers that wait; `domain` is
        EVENT_TIME or PROCESSING_TIME, the window that of a window operator's timer."""
        names = ["key", "time", "domain", "window_start", "window_end"]
        kinds = [_key(key_type), Types.LONG(), Types.STRING(), Types.LONG(), Types.LONG()]
        return self._read(stored_state.WaitingTimers(uid), Types.ROW_NAMED(names, kinds))

    def _read(self, reading: Reading, kind: TypeInformation) -> DataFrame:
        from pyspark.sql import functions as F

        from headrace.runtime import spark_types

        assert isinstance(kind, RowTypeInfo)
        schema = spark_types.struct_type(kind)
        groups = [
            each.select(
                F.col("key").getField("kg").alias("kg"),
                F.col("user_map_key").getField("key").alias("entry"),
                F.col("user_map_value").getField("value").alias("value"),
            ).sortWithinPartitions("kg")
            for each in self._entries()
        ]
        read = [each.mapInArrow(_reader(reading, kind), schema) for each in groups]
        return reduce(lambda one, other: one.unionByName(other), read)

    def _entries(self) -> list[DataFrame]:
        """Of each level of the job."""
        metadata = self._session.read.format("state-metadata").load(self._path)
        rows = metadata.select("operatorId", "operatorName").distinct().collect()
        levels = sorted(row[0] for row in rows if row[1].startswith(_TWS))
        if not levels:
            raise ValueError(f"{self._path} has no keyed state of Headrace's operators")
        return [self._level(operator) for operator in levels]

    def _level(self, operator: int) -> DataFrame:
        reader = self._session.read.format("statestore").option("operatorId", operator)
        reader = reader.option("stateVarName", "entries").option("flattenCollectionTypes", True)
        if self._batch is not None:
            reader = reader.option("batchId", self._batch)
        return reader.load(self._path)


def _reader(reading: Reading, kind: RowTypeInfo) -> Any:
    """For `mapInArrow` over (kg, entry, value) by key group."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark.sql.pandas.types import to_arrow_schema

        from headrace.runtime import spark_types

        schema = to_arrow_schema(spark_types.struct_type(kind), timezone="UTC")
        columns = RowsToColumns(kind, schema, tuple)
        for group in stored_state.groups(batches):
            rows = list(reading.rows(group))
            if rows:
                yield columns.batch(rows)

    return run


def _key(key_type: Any) -> TypeInformation:
    return type_of(key_type) or Types.STRING()


def _row(*columns: tuple[str, TypeInformation | None]) -> TypeInformation:
    kinds = []
    for name, kind in columns:
        if kind is None or kind == Types.PICKLED_BYTE_ARRAY():
            raise TypeError(f"the type of the {name} is not declared, so it has no column")
        kinds.append(_without_classes(kind))
    return Types.ROW_NAMED([name for name, _ in columns], kinds)


def _value(descriptor: api.StateDescriptor) -> TypeInformation | None:
    declared = type_of(descriptor.type_info)
    if isinstance(descriptor, api.MapStateDescriptor):
        key = type_of(descriptor.key_type_info)
        return None if key is None or declared is None else Types.MAP(key, declared)
    if isinstance(descriptor, api.ListStateDescriptor):
        return None if declared is None else Types.LIST(declared)
    return declared


def _without_classes(kind: TypeInformation) -> TypeInformation:
    """Rows in place of dataclasses, which columns know nothing of."""
    if isinstance(kind, NotNullTypeInfo):
        return _without_classes(kind.type_info)
    if isinstance(kind, DataclassTypeInfo):
        return kind.row_type()
    if isinstance(kind, ListTypeInfo):
        return Types.LIST(_without_classes(kind.elem_type))
    if isinstance(kind, MapTypeInfo):
        return Types.MAP(kind.key_type, _without_classes(kind.value_type))
    return kind

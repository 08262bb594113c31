"""A level of the job as a StatefulProcessor: Spark's state store under the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from headrace.connectors.kafka.messages import TaskIdentity
from headrace.runtime import closing
from headrace.runtime.frames import Frame
from headrace.runtime.host import LevelHost
from headrace.runtime.program import PackedProgram

#: Hosts of this worker process, by program, level and subtask: functions stay open from batch to
#: batch.
_hosts: dict[tuple[str, int, int], LevelHost] = {}


_FrameRow = Row(*Frame._fields)


class LevelProcessor(StatefulProcessor):
    """Runs one level for the key groups of a partition."""

    def __init__(self, packed: PackedProgram, level: int) -> None:
        self._packed = packed
        self._level = level

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._head = handle.getValueState("head", "value binary")
        self._entries = handle.getMapState("entries", "key binary", "value binary")

    def handleInputRows(
        self,
        key: Any,
        rows: Any,
        timerValues: Any,
    ) -> Iterator[Row]:
        received = [Frame._make(row) for row in rows]
        store = _SparkStore(self._head, self._entries)
        batch = TaskIdentity.current().batch_id
        again = batch <= self._packed.unpack().planned_before
        sent = list(self._host(key[0]).run(key[0], received, store, again=again))
        return (_FrameRow(*frame) for frame in sent)

    def close(self) -> None:
        pass

    def _host(self, group: int) -> LevelHost:
        subtask = self._packed.unpack().subtask_of(group)
        where = self._packed.token, self._level, subtask
        host = _hosts.get(where)
        if host is None:
            host = _hosts[where] = LevelHost(self._packed.copy(), self._level, subtask)
            closing.at_end(host.close)
        return host


class _SparkStore:
    """A `state.Store` over Spark's state; each call is a round trip to the JVM."""

    def __init__(self, head: Any, entries: Any) -> None:
        self._head = head
        self._entries = entries

    def head(self) -> bytes | None:
        stored = self._head.get()
        return None if stored is None else bytes(stored[0])

    def set_head(self, value: bytes) -> None:
        self._head.update((value,))

    def get(self, key: bytes) -> bytes | None:
        stored = self._entries.getValue((key,))
        return None if stored is None else bytes(stored[0])

    def put(self, key: bytes, value: bytes) -> None:
        self._entries.updateValue((key,), (value,))

    def remove(self, key: bytes) -> None:
        self._entries.removeKey((key,))

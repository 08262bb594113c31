"""A `TwoPhaseCommitSink` in any PySpark program, as a format of `writeStream`.

    class Spooled(TwoPhaseDataSource):
        @classmethod
        def name(cls) -> str:
            return "spool"

        def sink(self) -> TwoPhaseCommitSink:
            return Spool(self.options["folder"])

    spark.dataSource.register(Spooled)
    (df.writeStream.format("spool").option("folder", "/data/spool")
       .option("checkpointLocation", "/data/checkpoints/my-query").start())

The sink's values are `headrace.common.Row`s with the names of the columns. Options of the format
itself: `checkpointLocation`, required; `sinkName`, part of transactions' names, "sink". A query has
one sink, so the commit is of this one alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage

from headrace.common.types import Row
from headrace.connectors.twophase import commitlog, query
from headrace.connectors.twophase.committer import Committer
from headrace.connectors.twophase.hooks import HookParticipant
from headrace.connectors.twophase.messages import Resume, TaskIdentity
from headrace.connectors.twophase.ownership import OwnerStore
from headrace.connectors.twophase.participant import Message
from headrace.connectors.twophase.sink import TwoPhaseCommitSink
from headrace.connectors.twophase.writer import open_writer

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


class TwoPhaseDataSource(DataSource):
    """Subclass it, and say which sink. Spark makes one for every batch, and unpickles another for
    every commit; nothing but `options` is shared between them."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._commits_only = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _commits_only=True)

    @abstractmethod
    def sink(self) -> TwoPhaseCommitSink[Row, Any]:
        """Made from `self.options`, the same each time. Its guarantee has to be exactly-once."""

    def streamWriter(self, schema: StructType, overwrite: bool) -> SinkWriter:
        sink = self.sink()
        directory = query.checkpoint_directory(self.options)
        name = self.options.get("sinkName", "sink")
        root = f"{sink.transactional_id_prefix or OwnerStore(directory).job()}-{name}"
        writer = SinkWriter(sink, name, root, directory, Resume())
        if not self._commits_only:
            writer.resume = query.resume(directory, writer.committer)
        return writer


@dataclass(frozen=True)
class TaskMessage(WriterCommitMessage):
    """Of one partition. It brings the driver's own `resume` back to where the commit runs."""

    prepared: Message | None
    resume: Resume


class SinkWriter(DataSourceStreamArrowWriter):
    """`write` runs in tasks, `commit` and `abort` in a Python worker of the driver."""

    def __init__(
        self,
        sink: TwoPhaseCommitSink[Row, Any],
        name: str,
        root: str,
        directory: Path,
        resume: Resume,
    ) -> None:
        self._sink = sink
        self._name = name
        self._root = root
        self._directory = directory
        self.resume = resume

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskMessage:
        task = TaskIdentity.current()
        writer = open_writer(self._sink, self._name, self._root, task, self.resume)
        try:
            for batch in iterator:
                writer.write([(None, row) for row in _rows(batch)])
            return TaskMessage(writer.prepare(), replace(self.resume, ended={}))
        except BaseException:
            writer.abort()
            raise

    # Spark's annotations say `List`; what comes is a list with None for failed tasks.
    def commit(self, messages: Iterable[WriterCommitMessage | None], batchId: int) -> None:
        mine = [each for each in messages if isinstance(each, TaskMessage)]
        if mine:
            query.check_planned(batchId, self._directory)
            self.committer(mine[0].resume).commit(batchId, [each.prepared for each in mine])

    def abort(self, messages: Iterable[WriterCommitMessage | None], batchId: int) -> None:
        mine = [each for each in messages if isinstance(each, TaskMessage)]
        if mine:
            committer = self.committer(mine[0].resume)
            committer.abort(batchId, [each.prepared for each in mine])
            committer.clean_up(commitlog.newest(self._directory))  # of tasks that died

    def committer(self, resume: Resume | None) -> Committer:
        participant = HookParticipant(self._sink, self._name, self._root)
        return Committer([participant], self._directory, resume)


def _rows(batch: pa.RecordBatch) -> Iterator[Row]:
    names = tuple(batch.schema.names)
    columns = [column.to_pylist() for column in batch.columns]
    for values in zip(*columns, strict=True):
        yield Row._named(names, values)

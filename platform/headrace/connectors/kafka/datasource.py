"""The sink for any PySpark program: `df.writeStream.format("headrace-kafka")`.

    spark.dataSource.register(KafkaSink)
    (df.selectExpr("key", "value").writeStream.format("headrace-kafka")
       .option("kafka.bootstrap.servers", "localhost:9092").option("topic", "out")
       .option("transactionalIdPrefix", "my-job")
       .option("checkpointLocation", "/data/checkpoints/my-job").start())

Columns are those of Spark's own Kafka sink: `value` (string or binary), and if wanted `key`,
`topic`, `headers`, `partition`; also `timestamp`. Options:

    kafka.*                   of librdkafka, without the prefix; kafka.bootstrap.servers is required
    topic                     of rows without a `topic` column
    deliveryGuarantee         exactly-once (default), at-least-once or none
    transactionalIdPrefix     required for exactly-once, unique to the query in its cluster
    transactionTimeoutMs      longer than any batch takes; 15 minutes
    partitioner               of rows without a `partition`: default (by key, as Java's producers),
                              fixed, round-robin, or module:function (see `partitioners`)
    checkpointLocation        required: manifests are kept beside the query's own checkpoint
    sinkName                  part of transactional ids and markers; "sink"

`df.write.format("headrace-kafka")` works with at-least-once and none.

The query holds its prefix by its batches: without one for 15 seconds (or twice its usual pause,
up to two minutes) another job may take the prefix over, and this one stops with its next batch.

Exactly-once holds for readers with `isolation.level=read_committed`, and as long as a batch that
is run again has the same rows in the same partitions, which Spark itself assumes of its sources.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from headrace.connectors.kafka import errors, partitioners, rows
from headrace.connectors.kafka.committer import Committer
from headrace.connectors.kafka.messages import Resume, TaskIdentity
from headrace.connectors.kafka.participant import KafkaParticipant
from headrace.connectors.kafka.settings import (
    DEFAULT_TRANSACTION_TIMEOUT_MS,
    DeliveryGuarantee,
    SinkSettings,
)
from headrace.connectors.kafka.writer import Prepared, open_writer
from headrace.connectors.twophase import commitlog, query

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

FORMAT = "headrace-kafka"
_PASSED_THROUGH = "kafka."
_SERVERS = "bootstrap.servers"


class KafkaSink(DataSource):
    """Spark makes one in the driver's Python worker for every batch, and unpickles another for
    every commit; nothing but `options` is shared between them."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._commits_only = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _commits_only=True)

    def streamWriter(self, schema: StructType, overwrite: bool) -> BatchWriter:
        """Before a batch: recovers unless this run did. For a commit: takes no such step, since
        the tasks' messages carry what the recovery of the run answered."""
        _spare_collections()
        settings = sink_settings(self.options)
        columns = rows.columns(schema, settings.topic)
        directory = query.checkpoint_directory(self.options)
        resume = Resume()
        if not self._commits_only:
            resume = query.resume(directory, functools.partial(Committer, [settings], directory))
        return BatchWriter(settings, str(directory), columns, resume)

    def writer(self, schema: StructType, overwrite: bool) -> PlainWriter:
        """Of `df.write`, which has no checkpoint that could tell what an earlier try has written:
        at-least-once or none, and appending. Raises `InvalidSettings` otherwise."""
        if overwrite or _guarantee(self.options) is DeliveryGuarantee.EXACTLY_ONCE:
            raise errors.InvalidSettings(
                "df.write has no checkpoint, so it cannot be exactly-once, and Kafka cannot "
                "overwrite: use writeStream with trigger(availableNow=True), or mode('append') and "
                "option('deliveryGuarantee', 'at-least-once')"
            )
        settings = sink_settings(self.options)
        columns = rows.columns(schema, settings.topic)
        KafkaParticipant(settings).check()
        return PlainWriter(settings, columns)


class PlainWriter(DataSourceArrowWriter):
    """Writes without transactions; `prepare` has waited for every record when a task ends."""

    def __init__(self, settings: SinkSettings, columns: list[str]) -> None:
        self._settings = settings
        self._columns = columns

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        writer = open_writer(self._settings, TaskIdentity.current(0), Resume())
        for batch in iterator:
            writer.write(rows.records(batch, self._columns))
        writer.prepare()
        return WriterCommitMessage()


@dataclass(frozen=True)
class TaskMessage(WriterCommitMessage):
    """Of one partition. It brings the driver's own `resume` back to where the commit runs."""

    prepared: Prepared | None
    resume: Resume


class BatchWriter(DataSourceStreamArrowWriter):
    """`write` runs in tasks, `commit` and `abort` in a Python worker of the driver."""

    def __init__(
        self, settings: SinkSettings, directory: str, columns: list[str], resume: Resume
    ) -> None:
        self._settings = settings
        self._directory = directory
        self._columns = columns
        self._resume = resume

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskMessage:
        _spare_collections()
        writer = open_writer(self._settings, TaskIdentity.current(), self._resume)
        try:
            for batch in iterator:
                writer.write(rows.records(batch, self._columns))
        except BaseException:
            writer.abort()
            raise
        return TaskMessage(writer.prepare(), replace(self._resume, ended={}))

    # Spark's annotations say `List`; what comes is a list with None for failed tasks.
    def commit(self, messages: Iterable[WriterCommitMessage | None], batchId: int) -> None:
        mine = [each for each in messages if isinstance(each, TaskMessage)]
        if mine:
            if mine[0].resume.epoch:
                query.check_planned(batchId, Path(self._directory))
            self._committer(mine).commit(batchId, [each.prepared for each in mine])

    def abort(self, messages: Iterable[WriterCommitMessage | None], batchId: int) -> None:
        mine = [each for each in messages if isinstance(each, TaskMessage)]
        if mine:
            committer = self._committer(mine)
            committer.abort(batchId, [each.prepared for each in mine])
            committer.clean_up(commitlog.newest(Path(self._directory)))  # of tasks that died

    def _committer(self, messages: list[TaskMessage]) -> Committer:
        return Committer([self._settings], self._directory, messages[0].resume)


def sink_settings(options: Mapping[str, str]) -> SinkSettings:
    """The settings that these options mean. Raises `InvalidSettings`."""
    timeout = options.get("transactionTimeoutMs", str(DEFAULT_TRANSACTION_TIMEOUT_MS))
    passed = {
        name.removeprefix(_PASSED_THROUGH): value
        for name, value in options.items()
        if name.startswith(_PASSED_THROUGH)
    }
    if not timeout.isdigit():
        raise errors.InvalidSettings(f"transactionTimeoutMs is {timeout!r}, not a number")
    return SinkSettings(
        name=options.get("sinkName", "sink"),
        bootstrap_servers=passed.pop(_SERVERS, ""),
        topic=options.get("topic"),
        guarantee=_guarantee(options),
        transactional_id_prefix=options.get("transactionalIdPrefix", ""),
        transaction_timeout_ms=int(timeout),
        partitioner=partitioners.named(options.get("partitioner", partitioners.DEFAULT.name)),
        options=passed,
    )


def _guarantee(options: Mapping[str, str]) -> DeliveryGuarantee:
    text = options.get("deliveryGuarantee", DeliveryGuarantee.EXACTLY_ONCE.value)
    try:
        return DeliveryGuarantee(text.lower().replace("_", "-"))
    except ValueError:
        known = ", ".join(each.value for each in DeliveryGuarantee)
        raise errors.InvalidSettings(f"deliveryGuarantee is {text!r}, not {known}") from None


@functools.cache
def _spare_collections() -> None:
    """Spark's Python processes collect all garbage after every task and every step on the driver,
    20 ms for what pandas, pyarrow and the rest hold. What there is when a process comes here first
    stays, and is left out from then on. (The platform's jobs get this from their daemon.)"""
    gc.freeze()

"""All Kafka sources of a run: made ready before Spark starts, looked after while it runs."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

from headrace.connectors.kafka import security
from headrace.datastream.connectors.kafka import KafkaSource
from headrace.runtime import group_commits, kafka_kept, progress, spark_sources
from headrace.runtime.errors import JobFailed
from headrace.runtime.group_commits import GroupCommits
from headrace.runtime.kafka_brokers import Offsets
from headrace.runtime.kafka_input import KafkaInput
from headrace.runtime.program import Program
from headrace.runtime.spark_offsets import SparkOffsets

#: How long a topic that was deleted and made again may go unnoticed while its job runs.
WATCH_SECONDS = 5.0
#: How long the end of a job waits for a question to brokers that do not answer.
CLOSE_SECONDS = 2.0
#: Counter: records that a source with failOnDataLoss=false went on without.
LOST = "recordsLost"


class KafkaSources:
    """`inputs` by the number of the source's node, in the order of Spark's progress."""

    def __init__(
        self, program: Program, state_dir: Path, spark: SparkOffsets, *, checkpointing: bool
    ) -> None:
        """Raises UnknownTopic, DataLost, JobFailed (Kafka does not answer)."""
        found: dict[int, tuple[KafkaSource, int, Path]] = {}
        index = 0
        for position, (number, source) in enumerate(program.sources.items(), 1):
            if isinstance(source, KafkaSource):
                path = state_dir / f"kafka-source-{position}.json"
                found[number] = source, index, path
            index += spark_sources.count(source)
        for source, at, path in found.values():  # all, before one is moved
            KafkaInput.check(source, at, path, spark)
        self.inputs: dict[int, KafkaInput] = {
            number: KafkaInput.prepare(source, at, path, spark)
            for number, (source, at, path) in found.items()
        }
        #: Sources that Spark sees.
        self.count = index
        self._all_kafka = len(self.inputs) == len(program.sources)
        self._commits = {
            number: commits
            for number, kafka in self.inputs.items()
            if (commits := _commits(kafka.source, checkpointing)) is not None
        }
        self._restored()
        #: Set when the watch has seen that a topic is not the one that was read.
        self.replaced = threading.Event()
        self._closing = threading.Event()
        self._watching: threading.Thread | None = None

    def watch(self) -> None:
        """From now on see that topics stay the ones they are."""
        if self.inputs:
            self._watching = threading.Thread(target=self._watch, name="kafka-topics", daemon=True)
            self._watching.start()

    def batch_completed(self, found: dict[str, Any]) -> None:
        """`found`: Spark's progress, as JSON, of a batch that is committed."""
        ends = progress.kafka_offsets(found, "endOffset")
        for (number, kafka), offsets in zip(self.inputs.items(), ends, strict=True):
            if number in self._commits:
                self._commits[number].offer(kafka_kept.up_to(kafka.kept.ends, offsets))

    @property
    def ends(self) -> list[Offsets | None]:
        """Of each source, in the order of Spark's progress."""
        return [kafka.kept.ends for kafka in self.inputs.values()]

    @property
    def committed(self) -> Offsets:
        """What the sources' groups have, as far as this run has committed it."""
        return progress.lowest([commits.committed for commits in self._commits.values()])

    @property
    def counters(self) -> list[str]:
        """What `take_counts` may count."""
        commits = [group_commits.SUCCEEDED, group_commits.FAILED] if self._commits else []
        go_on = any(not k.source.reading.fail_on_data_loss for k in self.inputs.values())
        return commits + ([LOST] if go_on else [])

    def take_counts(self) -> dict[str, int]:
        """Since the last call."""
        counts: dict[str, int] = {}
        for commits in self._commits.values():
            for name, n in commits.take_counts().items():
                counts[name] = counts.get(name, 0) + n
        for kafka in self.inputs.values():
            if kafka.lost:
                counts[LOST] = counts.get(LOST, 0) + kafka.lost
                kafka.lost = 0
        return counts

    @property
    def all_ended(self) -> bool:
        """Whether no source of the job has anything to read before its end."""
        return self._all_kafka and self.bounded_ended

    @property
    def bounded_ended(self) -> bool:
        """Whether the bounded ones have been read to their ends."""
        return all(kafka.ended for kafka in self.inputs.values() if kafka.source.bounded)

    @property
    def ended_splits(self) -> list[str]:
        """ "<source's node>:<split>" of those that were read to their ends."""
        return [f"{n}:{split}" for n, kafka in self.inputs.items() for split in kafka.ended_splits]

    def has_more(self) -> bool:
        """Whether a bounded source could go on now. Raises JobFailed."""
        return any(kafka.has_more() for kafka in self.inputs.values() if kafka.source.bounded)

    def go_on(self) -> bool:
        """After a query has failed or `replaced` was set: move past what is lost, if anything is.
        Raises DataLost unless the source is told to go on."""
        self.replaced.clear()
        lost = False
        for kafka in self.inputs.values():
            losses = kafka.losses()
            if losses:
                kafka.go_on(losses)
                lost = True
        return lost

    def close(self) -> None:
        """Commit what waits, and end."""
        self._closing.set()
        for commits in self._commits.values():
            commits.close()
        if self._watching is not None:
            self._watching.join(CLOSE_SECONDS)

    def _restored(self) -> None:
        """What an earlier run has completed and may not have lived to commit."""
        for number, commits in self._commits.items():
            kafka = self.inputs[number]
            if kafka.spark.completed is not None and kafka.position:
                commits.offer(kafka_kept.up_to(kafka.kept.ends, kafka.position))

    def _watch(self) -> None:
        while not self._closing.wait(WATCH_SECONDS):
            for kafka in self.inputs.values():
                # brokers that are away come back, or else Spark fails
                with contextlib.suppress(JobFailed, OSError):
                    if kafka.watch_ids():
                        self.replaced.set()


def _commits(source: KafkaSource, checkpointing: bool) -> GroupCommits | None:
    at_once = source.reading.commit_on_checkpoint and checkpointing
    every = source.reading.auto_commit_ms
    if source.group_id is None or not (at_once or every is not None):
        return None
    options = security.for_librdkafka(source.properties)
    return GroupCommits(
        source.bootstrap_servers, source.group_id, options, None if at_once else every
    )

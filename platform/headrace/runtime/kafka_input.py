"""One Kafka source of a run: what it keeps, where it stands, what of it is lost."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from headrace.connectors.kafka import security
from headrace.datastream.connectors.kafka import KafkaSource
from headrace.datastream.connectors.kafka_offsets import Mode
from headrace.runtime import kafka_bounds, kafka_changes, kafka_losses, kafka_topics
from headrace.runtime.errors import JobFailed, UnknownTopic
from headrace.runtime.kafka_brokers import Brokers, Offsets, Partitions, each
from headrace.runtime.kafka_kept import Kept, reached
from headrace.runtime.kafka_losses import DataLost, Loss
from headrace.runtime.spark_offsets import SparkOffsets
from headrace.wire.failures import Cause

log = logging.getLogger(__name__)


@dataclass
class KafkaInput:
    """A source made ready. `index` is its position among Spark's sources."""

    source: KafkaSource
    index: int
    kept: Kept
    #: Where `kept` is kept.
    path: Path
    brokers: Brokers
    spark: SparkOffsets
    #: What is read from now on, apart from what is discovered.
    reads: Partitions = field(default_factory=dict)
    #: Topics that were not there when `watch_ids` last looked.
    missing: set[str] = field(default_factory=set)
    #: Records given up on, since the last look.
    lost: int = 0

    @classmethod
    def prepare(
        cls, source: KafkaSource, index: int, path: Path, spark: SparkOffsets
    ) -> KafkaInput:
        """Raises UnknownTopic, DataLost, JobFailed. Takes milliseconds, Spark's start seconds:
        call it before."""
        with kafka_topics.telling_refusals(source):
            return cls._prepare(source, index, path, spark)

    @staticmethod
    def check(source: KafkaSource, index: int, path: Path, spark: SparkOffsets) -> None:
        """Raises JobFailed where `prepare` would because the program has changed."""
        if spark.next_start(index) is not None and path.exists():
            kafka_changes.check(source, Kept.read(path))

    @classmethod
    def _prepare(
        cls, source: KafkaSource, index: int, path: Path, spark: SparkOffsets
    ) -> KafkaInput:
        client_options(source)  # what Spark's client cannot do is told before it starts
        brokers = Brokers.of(source)
        cls.check(source, index, path, spark)
        # until Spark knows where the source starts nothing of it has been read
        first = spark.next_start(index) is None or not path.exists()
        kept = Kept.first(source, brokers) if first else Kept.read(path)
        prepared = cls(source, index, kept, path, brokers, spark)
        prepared._settle()
        kept.write(path)
        if not first and kept.ends is None:
            prepared._check_named()
        prepared.reads = prepared._partitions()
        return prepared

    # --- for Spark

    def options(self) -> dict[str, str]:
        """What to read and where to start, as options of Spark's source. The start only counts
        while Spark has no offsets of its own."""
        return {**self._subscription(), "startingOffsets": self._start()}

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(f"{t}-{p}" for t, numbers in self.kept.partitions.items() for p in numbers)

    def _subscription(self) -> dict[str, str]:
        source = self.source
        if not self._discovers:
            return {"assign": json.dumps(self.reads)}
        if source.topic_pattern is not None:
            return {"subscribePattern": kafka_topics.java_pattern(source.topic_pattern)}
        return {"subscribe": ",".join(source.topics)}

    @property
    def _discovers(self) -> bool:
        reading = self.source.reading
        return reading.discover and self.kept.ends is None and not self.source.partitions

    def _start(self) -> str:
        if self.source.start.mode is Mode.EARLIEST:
            return "earliest"
        # a partition that has come since the job's first start is read from its beginning
        return json.dumps(
            {
                topic: {str(n): self.kept.start.get(topic, {}).get(str(n), -2) for n in numbers}
                for topic, numbers in self.reads.items()
            }
        )

    def _partitions(self) -> Partitions:
        ends, position = self.kept.ends, self.position
        if ends is not None:
            found = numbered(ends)
        else:
            found = self.kept.partitions if position is None else numbered(position)
        nothing_left = ends is not None and self.kept.gone
        if not found and not self._discovers and not nothing_left:
            raise UnknownTopic(
                f"of what source {self.source.described} reads there is nothing at "
                f"{self.source.bootstrap_servers}, and it does not look for new topics; create "
                "one, or correct the job"
            )
        return found

    # --- while it runs

    @property
    def position(self) -> Offsets | None:
        """Where the next batch starts; None before the first."""
        found: Offsets | None = self.spark.next_start(self.index)
        return found

    @property
    def ended(self) -> bool:
        return self.kept.ends is not None and reached(self.kept.ends, self.position or {})

    @property
    def ended_splits(self) -> list[str]:
        """Those that nothing more comes from: read to their ends, left, or deleted."""
        if not self.kept.ends and not self.kept.gone:
            return []
        position = self.position or {}
        read = [
            f"{topic}-{partition}"
            for topic, partition, end in each(self.kept.ends or {})
            if position.get(topic, {}).get(partition, -1) >= end
        ]
        here = {f"{topic}-{partition}" for topic, partition, _ in each(position)}
        return [*read, *(split for split in self.kept.gone if split not in here)]

    def has_more(self) -> bool:
        """Whether there are records between where the source stands and its end."""
        latest = self.brokers.readable(numbered(self.kept.ends or {}))
        position = self.position or {}
        return any(
            latest.get(t, {}).get(p, 0) > position.get(t, {}).get(p, 0) < end
            for t, p, end in each(self.kept.ends or {})
        )

    def losses(self) -> list[Loss]:
        """What of the source is lost; asks again before it believes what is doubtful. Raises
        JobFailed when the brokers do not answer."""
        losses = self._losses_now()
        for _ in range(kafka_topics.QUESTIONS - 1):
            if not any(loss.doubtful for loss in losses):
                break
            time.sleep(kafka_topics.QUESTION_SECONDS)
            losses = self._losses_now()
        return losses

    def _losses_now(self) -> list[Loss]:
        positions = self.position
        if positions is None:
            return []
        there = kafka_topics.present(self.source, self.brokers)
        partitions = numbered(kafka_bounds.over(kafka_bounds.missing(there, {}), positions))
        earliest, latest = self.brokers.earliest(partitions), self.brokers.latest(partitions)
        ids = self.brokers.ids(partitions)
        losses = kafka_losses.find(positions, earliest, latest, self.kept.ids, ids)
        planned = self.spark.planned_end(self.index) or {}
        losses += kafka_losses.cut(planned, latest, losses)
        new = kafka_bounds.missing(there, positions) if self._discovers else {}
        for topic, partition, _ in each(new):
            begins = earliest.get(topic, {}).get(partition, 0)
            if begins > 0:
                losses.append(Loss(topic, partition, 0, begins))
        return losses

    def watch_ids(self) -> bool:
        """Whether a topic was made again, or was not there the last time and now; the ids of new
        ones are kept. Raises JobFailed when the brokers do not answer."""
        ids = self.brokers.ids({*self.kept.ids, *(self.position or {})})
        missing_before, self.missing = self.missing, self.kept.ids.keys() - ids.keys()
        if self.missing & missing_before:
            return True
        if any(self.kept.ids.get(topic, id_) != id_ for topic, id_ in ids.items()):
            return True
        if ids.keys() - self.kept.ids.keys():
            self.kept.ids = {**self.kept.ids, **ids}
            self.kept.write(self.path)
        return False

    def go_on(self, losses: list[Loss]) -> None:
        """Move on past what is lost; no query may run. Raises DataLost unless the source is told
        to go on."""
        if self.source.reading.fail_on_data_loss:
            raise DataLost(self.source.described, losses)
        for loss in losses:
            log.warning("Source %s goes on without: %s", self.source.described, loss.said)
        self._note_gone((loss.topic, loss.partition) for loss in losses if loss.end is None)
        self.spark.move(self.index, lambda offsets: kafka_losses.moved(offsets, losses))
        self.lost += sum(loss.count for loss in losses)
        self._end_of_lost(losses)
        self.kept.ids = self.brokers.ids({loss.topic for loss in losses} | self.kept.ids.keys())
        self.kept.write(self.path)
        self.reads = self._partitions()

    def _note_gone(self, partitions: Iterable[tuple[str, str]]) -> None:
        """Before Spark's log is changed: a driver that dies in between finds it in both states."""
        gone = {f"{topic}-{partition}" for topic, partition in partitions}
        if gone:
            self.kept.gone = sorted(gone.union(self.kept.gone))
            self.kept.write(self.path)

    def _end_of_lost(self, losses: list[Loss]) -> None:
        """What is gone has no end to wait for; that of another topic is another one."""
        for loss in losses:
            ends = (self.kept.ends or {}).get(loss.topic, {})
            if loss.end is None:
                ends.pop(loss.partition, None)
            elif loss.replaced and loss.partition in ends:
                here = {loss.topic: [int(loss.partition)]}
                ends.update(self.brokers.readable(here).get(loss.topic, {}))
        if self.kept.ends is not None:
            self.kept.ends = {topic: ends for topic, ends in self.kept.ends.items() if ends}

    # --- at a restore

    def _settle(self) -> None:
        """Make Spark's log fit what the program reads now, and find out what is lost."""
        if self.position is None:
            return
        if self.kept.ends is None:
            self._follow_program()
        losses = self.losses()
        if losses:
            self.go_on(losses)

    def _follow_program(self) -> None:
        named = kafka_topics.named(self.source)
        if named != self.kept.named:
            self._check_named()  # a misspelt topic is found before another one is left for it
        self._leave()
        self._join()
        self.kept.named = named

    def _check_named(self) -> None:
        """Raises UnknownTopic."""
        kafka_topics.asked_again(lambda: kafka_topics.partitions(self.source, self.brokers))

    def _leave(self) -> None:
        """What the program does not name any more is left, which is no loss."""
        left = kafka_changes.left(self.source, self.position or {})
        if left:
            log.info("%s: no more read: %s", self.source.described, sorted(left))
            self._note_gone(left)
            self.spark.move(self.index, lambda offsets: _without(offsets, left))
        there = self.position or {}
        self.kept.ids = {topic: id_ for topic, id_ in self.kept.ids.items() if topic in there}

    def _join(self) -> None:
        """What the program names only now is read from the earliest offset there is, which is no
        loss either."""
        present = kafka_topics.present(self.source, self.brokers)
        new = kafka_changes.newly_named(self.source, self.kept, self.position or {}, present)
        begins = self.brokers.earliest(new)
        if begins:
            self.spark.move(self.index, lambda offsets: kafka_bounds.over(begins, offsets))


def numbered(offsets: Offsets) -> Partitions:
    return {topic: sorted(int(p) for p in partitions) for topic, partitions in offsets.items()}


def _without(offsets: Offsets, left: set[tuple[str, str]]) -> Offsets:
    kept = {t: {p: o for p, o in ps.items() if (t, p) not in left} for t, ps in offsets.items()}
    return {topic: partitions for topic, partitions in kept.items() if partitions}


def client_options(source: KafkaSource) -> dict[str, str]:
    """The source's own properties for Spark's consumer. Raises JobFailed."""
    try:
        return security.for_java(source.properties)
    except ValueError as error:
        raise JobFailed(f"Source {source.described}: {error}", cause=Cause.SETTINGS) from error

"""Replays the example flights into a Kafka topic: in order of event time, each exactly once.

Every record carries its number in a header. A replay that starts looks up the last number in each
partition and goes on behind it, so it may be killed and started again at any time: within one run
the idempotent producer keeps order and drops what a retry sent twice. A lock file keeps two
replays of one topic on this machine apart.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from jobs.examples.flights import ORIGINS, Flight

HEADER = "replay"
REQUEST_TIMEOUT_SECONDS = 15.0
#: What brokers say of a topic until all of them know it.
_NEW_TOPIC = frozenset(
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._UNKNOWN_TOPIC,
    }
)
#: Records looked at from a partition's end for the last one with a number; then ten times more.
TAIL = 100
LONGEST_PAUSE_SECONDS = 0.5
SAY_EVERY = 50_000


class ReplayFailed(Exception):
    """The replay cannot go on; what is in the topic is right, and the next start goes on there."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast event time passes; `speed` None is as fast as possible."""

    speed: float | None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def follow(self, flights: Iterable[Flight], idle: Callable[[], None]) -> Iterator[Flight]:
        """The same flights, each when its time has come; the first one at once.

        `idle` is called at least every half second while waiting."""
        started, first = self.clock(), None
        for flight in flights:
            if self.speed is not None:
                first = first or flight.event_time
                due = started + (flight.event_time - first).total_seconds() / self.speed
                while (wait := due - self.clock()) > 0:
                    idle()
                    self.sleep(min(wait, LONGEST_PAUSE_SECONDS))
            yield flight


@contextmanager
def only_one(folder: Path, topic: str) -> Iterator[None]:
    """Hold the topic's lock; the kernel lets it go when this process ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"replay-{topic}.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ReplayFailed(
                f"another replay of the topic {topic} is running; two at once would put every "
                "flight in twice. End that one first (`make up` runs one)."
            ) from error
        yield


class Replay:
    """One run of a replay into one topic, which must exist."""

    def __init__(self, servers: str, topic: str, say: Callable[[str], None]) -> None:
        self._servers, self._topic, self._say = servers, topic, say
        self._last = last_numbers(servers, topic)
        self._failed: KafkaError | None = None
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                # The broker may be away for a while; an idempotent record is never given up.
                "message.timeout.ms": 0,
                "compression.type": "lz4",
                "linger.ms": 20,
            }
        )

    def run(self, flights: Iterable[Flight], pace: Pace) -> int:
        """Put in those of `flights` that are not in the topic; how many. Ends flushed."""
        missing = (flight for flight in flights if flight.id > self._last[self._partition(flight)])
        count = 0
        try:
            for count, flight in enumerate(pace.follow(missing, self._serve), start=1):
                self._tell(count, flight, pace)
                self._produce(flight)
        finally:
            while self._producer.flush(1.0) and not self._failed:
                pass
        self._raise_failure()
        return count

    def _partition(self, flight: Flight) -> int:
        return ORIGINS.index(flight.origin) % len(self._last)

    def _produce(self, flight: Flight) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    flight.encode(),
                    flight.origin,
                    self._partition(flight),
                    on_delivery=self._delivered,
                    headers=[(HEADER, str(flight.id).encode())],
                )
                break
            except BufferError:
                self._producer.poll(LONGEST_PAUSE_SECONDS)
        self._serve()

    def _serve(self) -> None:
        self._producer.poll(0)
        self._raise_failure()

    def _delivered(self, error: KafkaError | None, _message: Message) -> None:
        self._failed = self._failed or error

    def _raise_failure(self) -> None:
        if self._failed:
            raise ReplayFailed(
                f"Kafka at {self._servers} refused a record of {self._topic}: "
                f"{self._failed.str()}. Start the replay again; it goes on behind the last one."
            )

    def _tell(self, count: int, flight: Flight, pace: Pace) -> None:
        if count == 1:
            speed = "as fast as possible" if pace.speed is None else f"{pace.speed:g} times as fast"
            self._say(f"replaying from flight {flight.id} ({_day(flight.event_time)}), {speed}")
        elif count % SAY_EVERY == 0:
            self._say(f"at flight {flight.id} ({_day(flight.event_time)})")


def last_numbers(servers: str, topic: str) -> list[int]:
    """For each partition the number of the last replayed record in it, -1 where there is none.

    Records that others put into the topic carry no number and are passed over."""
    consumer = _reader(servers)
    try:
        known = consumer.list_topics(topic, timeout=REQUEST_TIMEOUT_SECONDS).topics[topic]
        if known.error is not None:
            raise ReplayFailed(
                f"Kafka at {servers} has no topic {topic}: {known.error.str()}. Nothing was "
                "written. `make up` creates it."
            )
        return [_last_number(consumer, topic, partition) for partition in sorted(known.partitions)]
    except KafkaException as error:
        raise ReplayFailed(
            f"Kafka at {servers} cannot be asked what {topic} holds: {error.args[0].str()}. "
            "Nothing was written; start the replay again when it answers."
        ) from error
    finally:
        consumer.close()


def _reader(servers: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "headrace-replay",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_uncommitted",
        }
    )


def _bounds(consumer: Consumer, where: TopicPartition) -> tuple[int, int]:
    """First and end offset. A topic made this moment has no leader for the first one or two."""
    deadline = time.monotonic() + REQUEST_TIMEOUT_SECONDS
    while True:
        try:
            return consumer.get_watermark_offsets(where, timeout=REQUEST_TIMEOUT_SECONDS)
        except KafkaException as error:
            problem = error.args[0]
            passing = problem.retriable() or problem.code() in _NEW_TOPIC
            if not passing or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _last_number(consumer: Consumer, topic: str, partition: int) -> int:
    low, high = _bounds(consumer, TopicPartition(topic, partition))
    length = TAIL
    while high > low:
        start = max(low, high - length)
        numbers = [_number(message) for message in _read(consumer, topic, partition, start, high)]
        if (last := max(numbers, default=-1)) >= 0 or start == low:
            return last
        length *= 10
    return -1


def _read(
    consumer: Consumer, topic: str, partition: int, start: int, end: int
) -> Iterator[Message]:
    """The messages with offsets from `start` to before `end`."""
    consumer.assign([TopicPartition(topic, partition, start)])
    position = start
    while position < end:
        messages = consumer.consume(min(1000, end - position), REQUEST_TIMEOUT_SECONDS)
        if not messages:
            raise ReplayFailed(
                f"partition {partition} of {topic} gave no records for "
                f"{REQUEST_TIMEOUT_SECONDS:.0f} s; nothing was written. Start the replay again."
            )
        for message in messages:
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                return
            if error is not None:
                raise KafkaException(error)
            position = (message.offset() or 0) + 1
            yield message


def _number(message: Message) -> int:
    """The record's number; -1 for a record of someone else."""
    headers = cast(list[tuple[str, bytes]], message.headers() or [])
    values = [value for name, value in headers if name == HEADER]
    text = values[0].decode(errors="replace") if values else ""
    return int(text) if text.isdigit() else -1


def _day(time: datetime) -> str:
    return f"{time:%d %B %Y}"

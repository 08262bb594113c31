"""Which partition of its topic a record goes to.

A record that names its own `partition` gets it. For the others the sink's `Partitioner` decides:

    DEFAULT       by key, where Java's producers (Spark's and Flink's sinks, too) put the same key;
                  without a key, anywhere. librdkafka does it, by its own option `partitioner`
    FIXED         all records of a task to one partition, as Flink's FlinkFixedPartitioner
    ROUND_ROBIN   one partition after the other
    custom(f)     `f(key, value, topic, partitions)`, a function of the user's

Except for records without key by DEFAULT, nothing but the batch decides: it is written to the same
partitions when it is run again, as long as the topic has as many.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from importlib import import_module
from typing import Any

import cloudpickle
from confluent_kafka import Producer

from headrace.connectors.kafka import errors
from headrace.connectors.kafka.messages import TaskIdentity

#: Gets key and value as bytes or None, and the numbers of all partitions; answers one of them.
Chooser = Callable[[Any, Any, str, list[int]], int]

METADATA_SECONDS = 10.0
METADATA_PAUSE_SECONDS = 0.2
#: How long the brokers' answer about a topic's partitions is good for.
KNOWN_SECONDS = 60.0


class Kind(Enum):
    DEFAULT = "default"
    FIXED = "fixed"
    ROUND_ROBIN = "round-robin"
    CUSTOM = "custom"


@dataclass(frozen=True)
class Partitioner:
    """A picklable choice. `name` is shown in errors; `function` is a pickled Chooser, or None if
    `name` says where to import it from."""

    kind: Kind = Kind.DEFAULT
    name: str = Kind.DEFAULT.value
    function: bytes | None = None

    def __repr__(self) -> str:
        return f"<partitioner {self.name}>"


DEFAULT = Partitioner()
FIXED = Partitioner(Kind.FIXED, Kind.FIXED.value)
ROUND_ROBIN = Partitioner(Kind.ROUND_ROBIN, Kind.ROUND_ROBIN.value)


def custom(function: Chooser) -> Partitioner:
    """`function` is pickled here and called in tasks, once per record that names no partition."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return Partitioner(Kind.CUSTOM, name, cloudpickle.dumps(function))


def named(text: str) -> Partitioner:
    """`default`, `fixed`, `round-robin`, or `module:function`, to be importable where tasks run.
    Raises `InvalidSettings`."""
    for known in (DEFAULT, FIXED, ROUND_ROBIN):
        if text.lower().replace("_", "-") == known.name:
            return known
    module, _, function = text.partition(":")
    if not all(part.isidentifier() for part in [*module.split("."), *function.split(".")]):
        raise errors.InvalidSettings(
            f"partitioner is {text!r}; it can be default, fixed, round-robin or module:function"
        )
    return Partitioner(Kind.CUSTOM, text)


class Placement:
    """The partitions of one task's records."""

    def __init__(self, partitioner: Partitioner, servers: str, task: TaskIdentity) -> None:
        self._partitioner = partitioner
        self._servers = servers
        self._task = task
        self._placed: dict[str, int] = {}

    def assign(self, client: Producer, topic: str | None, records: list[dict[str, Any]]) -> None:
        """Sets `partition` of the records that name none, if librdkafka is not to choose. Raises
        `InvalidRecord`, KafkaException."""
        if self._partitioner.kind is Kind.DEFAULT:
            return
        for record in records:
            if record.get("partition") is None:
                chosen = topic_of(record, topic)
                record["partition"] = self._choose(chosen, record, self._count(client, chosen))

    def check(self, client: Producer, topic: str, partition: Any) -> None:
        """Raises `InvalidRecord` when the topic has no such partition."""
        if not isinstance(partition, int) or partition < 0:
            raise errors.InvalidRecord(f"{partition!r} is no partition of topic {topic}")
        if partition >= self._count(client, topic):
            partitions = self._count(client, topic, fresh=True)
            if partition >= partitions:
                raise errors.InvalidRecord(
                    f"partition {partition} of topic {topic}, which has 0 to {partitions - 1}"
                )

    def _choose(self, topic: str, record: dict[str, Any], partitions: int) -> int:
        match self._partitioner.kind:
            case Kind.FIXED:
                return self._task.partition % partitions
            case Kind.ROUND_ROBIN:
                placed = self._placed[topic] = self._placed.get(topic, -1) + 1
                # Tasks, and small batches, do not all begin at partition 0.
                return (self._task.partition + self._task.batch_id + placed) % partitions
            case _:
                return self._ask(topic, record, partitions)

    def _ask(self, topic: str, record: dict[str, Any], partitions: int) -> int:
        name, function = self._partitioner.name, _load(self._partitioner)
        key, value = _bytes(record.get("key")), _bytes(record.get("value"))
        try:
            chosen = function(key, value, topic, list(range(partitions)))
        except Exception as error:
            raise errors.InvalidRecord(
                f"partitioner {name} raised {type(error).__name__}: {error}"
            ) from error
        if not isinstance(chosen, int) or not 0 <= chosen < partitions:
            raise errors.InvalidRecord(
                f"partitioner {name} answered {chosen!r}; topic {topic} has partitions 0 to "
                f"{partitions - 1}"
            )
        return chosen

    def _count(self, client: Producer, topic: str, *, fresh: bool = False) -> int:
        """How many partitions the topic has; asked again after a while."""
        place = os.getpid(), self._servers, topic
        known = _known.get(place)
        if fresh or known is None or time.monotonic() - known[0] > KNOWN_SECONDS:
            known = _known[place] = time.monotonic(), _ask_brokers(client, topic)
        return known[1]


def _ask_brokers(client: Producer, topic: str) -> int:
    """How many partitions. A topic that is new is not known to every broker at once."""
    deadline = time.monotonic() + METADATA_SECONDS
    while True:
        found = client.list_topics(topic, timeout=METADATA_SECONDS).topics[topic]
        if found.error is None and found.partitions:
            return len(found.partitions)
        if time.monotonic() > deadline:
            raise errors.InvalidRecord(f"topic {topic}: {found.error or 'no partitions'}")
        time.sleep(METADATA_PAUSE_SECONDS)


#: (process, cluster, topic) -> when the brokers were asked, and what they answered.
_known: dict[tuple[int, str, str], tuple[float, int]] = {}


def topic_of(record: Mapping[str, Any], topic: str | None) -> str:
    """The record's own topic, or else the sink's. Raises `InvalidRecord`."""
    chosen = record.get("topic") or topic
    if not chosen:
        raise errors.InvalidRecord("a record names no topic, and the sink has none of its own")
    if not isinstance(chosen, str):
        raise errors.InvalidRecord(f"a record's topic is {chosen!r}, not a string")
    return chosen


@lru_cache(maxsize=16)
def _load(partitioner: Partitioner) -> Chooser:
    if partitioner.function is not None:
        unpickled: Chooser = cloudpickle.loads(partitioner.function)
        return unpickled
    module, _, path = partitioner.name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise errors.InvalidSettings(
            f"partitioner {partitioner.name} cannot be imported where the tasks run: {error}"
        ) from error
    resolved: Chooser = found
    return resolved


def _bytes(data: Any) -> Any:
    return data.encode() if isinstance(data, str) else data

"""Where a Kafka table is read from at the query's first start; later its checkpoint says it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from headrace.sql.options import Options

_MODES = ("group-offsets", "earliest-offset", "latest-offset", "timestamp", "specific-offsets")
_EARLIEST, _LATEST = -2, -1
_SECONDS = 15.0
_NO_ANSWER = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT)


@dataclass(frozen=True)
class Start:
    mode: str
    specific: str = ""
    #: Milliseconds since 1970.
    timestamp: int = 0


def of(options: Options, properties: dict[str, str]) -> Start:
    """Flink's default is what the group has committed. Raises SqlError."""
    mode = options.one_of("scan.startup.mode", _MODES, "group-offsets")
    specific = options.take("scan.startup.specific-offsets")
    timestamp = options.number("scan.startup.timestamp-millis", None if mode == "timestamp" else 0)
    if mode == "group-offsets" and not properties.get("group.id"):
        raise options.wrong(
            "'scan.startup.mode' is 'group-offsets' by default, and there is no "
            "'properties.group.id'; give one, or another mode"
        )
    return Start(mode, specific, timestamp)


def read(
    start: Start, options: Options, properties: dict[str, str], reading: dict[str, str]
) -> str:
    """Spark's startingOffsets. Asks Kafka where that is needed. Raises SqlError."""
    if start.mode in ("earliest-offset", "latest-offset"):
        return start.mode.removesuffix("-offset")
    topics = reading.get("subscribe", "").split(",")
    if start.mode == "specific-offsets":
        return _specific(options, start.specific, topics)
    servers = reading["kafka.bootstrap.servers"]
    consumer = Consumer(
        {
            **{key: each for key, each in properties.items() if not key.startswith("auto.")},
            "bootstrap.servers": servers,
            "group.id": properties.get("group.id", "headrace-sql"),
            "enable.auto.commit": "false",
            "reconnect.backoff.ms": "1000",
        }
    )
    try:
        partitions = _partitions(consumer, topics, options)
        if start.mode == "group-offsets":
            return _of_group(consumer, partitions, properties, options)
        wanted = [TopicPartition(at.topic, at.partition, start.timestamp) for at in partitions]
        found = consumer.offsets_for_times(wanted, timeout=_SECONDS)
        return _json({(at.topic, at.partition): at.offset for at in found}, _LATEST)
    except KafkaException as error:
        if error.args[0].code() in _NO_ANSWER:
            raise ConnectionError(
                f"Kafka at {servers} does not answer, and has to say where to begin: {error}"
            ) from None
        raise options.wrong(f"Kafka at {servers} cannot say where to begin: {error}") from None
    finally:
        consumer.close()


def _partitions(consumer: Consumer, topics: list[str], options: Options) -> list[TopicPartition]:
    if not all(topics):
        raise options.wrong("'topic-pattern' begins at 'earliest-offset' or 'latest-offset'")
    found = []
    for topic in topics:
        known = consumer.list_topics(topic, timeout=_SECONDS).topics[topic]
        if known.error is not None or not known.partitions:
            raise options.wrong(f"there is no topic {topic}; create it before the job begins")
        found += [TopicPartition(topic, number) for number in known.partitions]
    return found


def _of_group(
    consumer: Consumer,
    partitions: list[TopicPartition],
    properties: dict[str, str],
    options: Options,
) -> str:
    reset = properties.get("auto.offset.reset", "none")
    committed = consumer.committed(partitions, timeout=_SECONDS)
    missing = [at for at in committed if at.offset < 0]
    if missing and reset not in ("earliest", "latest"):
        raise options.wrong(
            f"group {properties['group.id']} has no committed offset for {missing[0].topic} "
            f"partition {missing[0].partition}; set 'properties.auto.offset.reset' to earliest or "
            "latest, or another 'scan.startup.mode'"
        )
    otherwise = _EARLIEST if reset == "earliest" else _LATEST
    return _json({(at.topic, at.partition): at.offset for at in committed}, otherwise)


def _json(found: dict[tuple[str, int], int], otherwise: int) -> str:
    offsets: dict[str, dict[str, int]] = {}
    for (topic, partition), at in found.items():
        offsets.setdefault(topic, {})[str(partition)] = at if at >= 0 else otherwise
    return json.dumps(offsets)


def _specific(options: Options, text: str, topics: list[str]) -> str:
    """'partition:0,offset:42;partition:1,offset:300'"""
    if len(topics) != 1 or not topics[0]:
        raise options.wrong("'specific-offsets' are of one topic")
    offsets: dict[str, int] = {}
    try:
        for each in filter(None, text.split(";")):
            partition, offset = each.split(",")
            offsets[str(int(partition.strip().removeprefix("partition:")))] = int(
                offset.strip().removeprefix("offset:")
            )
    except ValueError:
        offsets = {}
    if not offsets:
        raise options.wrong(
            "'scan.startup.specific-offsets' is written 'partition:0,offset:42;partition:1,…'"
        )
    return json.dumps({topics[0]: offsets})

"""What the brokers say of the topics that a job names."""

from __future__ import annotations

import re

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._metadata import TopicMetadata

from headrace.connectors.kafka import security, sending
from headrace.datastream.connectors.kafka import KafkaSink, KafkaSource
from headrace.runtime.errors import JobFailed, UnknownTopic
from headrace.runtime.program import Program

METADATA_SECONDS = 10.0

#: Topic -> its partitions.
Partitions = dict[str, list[int]]


def check(program: Program) -> None:
    """Raises UnknownTopic when a source or sink names a topic that does not exist, JobFailed
    when Kafka does not answer. Takes milliseconds, Spark's start seconds: call it before."""
    for source in program.sources.values():
        if isinstance(source, KafkaSource):
            partitions(source)
    for sink in program.sinks.values():
        if isinstance(sink, KafkaSink) and sink.fixed_topic is not None:
            known = _topics(sink.bootstrap_servers, _client_options(sink.properties))
            _require((sink.fixed_topic,), known, sink.bootstrap_servers)


def partitions(source: KafkaSource) -> Partitions:
    """As the brokers know them now. Raises as `check` does."""
    known = _topics(source.bootstrap_servers, security.for_librdkafka(source.properties))
    if source.topic_pattern is not None:
        pattern = re.compile(source.topic_pattern)
        return {t: sorted(m.partitions) for t, m in known.items() if pattern.fullmatch(t)}
    _require(source.topics, known, source.bootstrap_servers)
    return {topic: sorted(known[topic].partitions) for topic in source.topics}


def ends(source: KafkaSource, found: Partitions) -> dict[str, dict[str, int]]:
    """Topic -> partition -> the offset behind its last record."""
    consumer = Consumer(
        {
            **security.for_librdkafka(source.properties),
            "bootstrap.servers": source.bootstrap_servers,
            "group.id": "headrace-bounds",
            "enable.auto.commit": False,
        }
    )
    try:
        return {
            topic: {str(number): _end(consumer, topic, number) for number in numbers}
            for topic, numbers in found.items()
        }
    finally:
        consumer.close()


def _end(consumer: Consumer, topic: str, number: int) -> int:
    where = TopicPartition(topic, number)
    low_and_high = consumer.get_watermark_offsets(where, METADATA_SECONDS)
    if low_and_high is None:
        raise JobFailed(f"{topic}-{number} did not say where it ends; nothing was read")
    return int(low_and_high[1])


def _topics(servers: str, options: dict[str, str]) -> dict[str, TopicMetadata]:
    try:
        admin = AdminClient({**options, "bootstrap.servers": servers})
    except (KafkaException, ValueError, TypeError) as error:
        raise JobFailed(
            f"the client of Kafka at {servers} does not take its options "
            f"({sending.reason(error)}); nothing was read. Correct them in the job.",
            restartable=False,
        ) from error
    try:
        return dict(admin.list_topics(timeout=METADATA_SECONDS).topics)
    except KafkaException as error:
        raise JobFailed(
            f"Kafka at {servers} does not answer ({sending.reason(error)}); "
            "nothing was read, nothing is lost. Check the address and that the brokers run."
        ) from error


def _require(wanted: tuple[str, ...], known: dict[str, TopicMetadata], servers: str) -> None:
    missing = [topic for topic in wanted if topic not in known or known[topic].error]
    if missing:
        raise UnknownTopic(
            f"topic {', '.join(map(repr, missing))} does not exist at {servers}; "
            "create it, or correct the name in the job"
        )


def _client_options(properties: dict[str, str]) -> dict[str, str]:
    """The properties of a sink that any librdkafka client of its cluster needs."""
    shared = ("security.", "sasl.", "ssl.", "enable.ssl.", "client.id")
    return {k: v for k, v in properties.items() if k.startswith(shared)}

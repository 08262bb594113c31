"""Which topics and partitions a job reads and writes, as the brokers know them now."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from headrace.connectors.kafka import security, sign_in
from headrace.connectors.kafka.errors import ClusterUnreachable, InvalidSettings
from headrace.connectors.kafka.settings import DEFAULT_MARKER_TOPIC
from headrace.datastream.connectors.kafka import KafkaSink, KafkaSource
from headrace.runtime.errors import JobFailed, UnknownTopic
from headrace.runtime.kafka_brokers import Brokers, Partitions
from headrace.runtime.program import Program

#: Topics of Kafka's and Headrace's own, which no pattern means.
_OWN = ("__consumer_offsets", "__transaction_state", "__share_group_state", DEFAULT_MARKER_TOPIC)

#: How often, and how long apart, brokers are asked about what may be a mistake: one that has just
#: come up may not know every topic for a moment.
QUESTIONS, QUESTION_SECONDS = 4, 1.0
#: How long to find out why brokers do not answer.
SIGN_IN_SECONDS = 5.0

Answer = TypeVar("Answer")


def asked_again(ask: Callable[[], Answer]) -> Answer:
    """As `ask`, which is asked some times before its UnknownTopic is believed."""
    for _ in range(QUESTIONS - 1):
        with contextlib.suppress(UnknownTopic):
            return ask()
        time.sleep(QUESTION_SECONDS)
    return ask()


def check_sinks(program: Program, *, ran_before: bool = False) -> None:
    """Raises UnknownTopic when a sink names a topic that does not exist, JobFailed when Kafka
    does not answer, InvalidSettings when it does not let the sink in. `ran_before`: the topics
    have been there, so that brokers are asked again before a topic is given up."""
    if ran_before:
        asked_again(lambda: check_sinks(program))
        return
    for sink in program.sinks.values():
        if isinstance(sink, KafkaSink) and sink.fixed_topic is not None:
            _require((sink.fixed_topic,), _topics_of(sink), sink.bootstrap_servers)


def _topics_of(sink: KafkaSink) -> Partitions:
    options = _client_options(sink.properties)
    try:
        return Brokers(sink.bootstrap_servers, options).topics()
    except JobFailed:
        with contextlib.suppress(ClusterUnreachable):
            who = f"sink {sink.described!r}"
            sign_in.check_client(who, sink.bootstrap_servers, options, SIGN_IN_SECONDS)
        raise


@contextlib.contextmanager
def telling_refusals(source: KafkaSource) -> Iterator[None]:
    """Where the brokers do not answer: raises JobFailed, not to be tried again, if that is
    because they do not let the source in."""
    try:
        yield
    except JobFailed as error:
        if not error.restartable:
            raise
        options: dict[str, Any] = dict(security.for_librdkafka(source.properties))
        who = f"source {source.described!r}"
        try:
            with contextlib.suppress(ClusterUnreachable):
                sign_in.check_client(who, source.bootstrap_servers, options, SIGN_IN_SECONDS)
        except InvalidSettings as refused:
            raise JobFailed(
                f"{refused}. Nothing was read. Correct the source's security properties in the "
                "job, or give its user access",
                restartable=False,
            ) from error
        raise


def partitions(source: KafkaSource, brokers: Brokers) -> Partitions:
    """What the source reads. Raises UnknownTopic when a topic or partition that it names does
    not exist, JobFailed when Kafka does not answer."""
    known = brokers.topics()
    if source.partitions:
        _require_partitions(source, known)
    if source.topics:
        _require(source.topics, known, source.bootstrap_servers)
    return _chosen(source, known)


def present(source: KafkaSource, brokers: Brokers) -> Partitions:
    """As `partitions`; what is missing is left out."""
    return _chosen(source, brokers.topics())


def named(source: KafkaSource) -> list[str]:
    """What the program says to read, in words that tell topics, patterns and partitions apart."""
    partitions = [f"partition {each.topic}-{each.partition}" for each in sorted(source.partitions)]
    pattern = [] if source.topic_pattern is None else [f"pattern {source.topic_pattern}"]
    return [*partitions, *pattern, *(f"topic {topic}" for topic in sorted(source.topics))]


def names(source: KafkaSource, topic: str, partition: int) -> bool:
    """Whether the program says to read it."""
    if source.topic_pattern is not None:
        return topic not in _OWN and re.fullmatch(source.topic_pattern, topic) is not None
    single = any((e.topic, e.partition) == (topic, partition) for e in source.partitions)
    return single or topic in source.topics


def java_pattern(topic_pattern: str) -> str:
    """For Spark, which looks for a pattern anywhere in a topic's name."""
    own = "|".join(_OWN)
    return f"^(?!(?:{own})$)(?:{topic_pattern})$"


def _chosen(source: KafkaSource, known: Partitions) -> Partitions:
    if source.topic_pattern is not None:
        pattern = re.compile(source.topic_pattern)
        return {t: p for t, p in known.items() if t not in _OWN and pattern.fullmatch(t)}
    chosen = {topic: known[topic] for topic in source.topics if topic in known}
    for each in sorted(source.partitions):
        if each.partition in known.get(each.topic, []):
            chosen.setdefault(each.topic, []).append(each.partition)
    return chosen


def _require_partitions(source: KafkaSource, known: Partitions) -> None:
    _require(tuple({each.topic: 0 for each in source.partitions}), known, source.bootstrap_servers)
    missing = [e for e in sorted(source.partitions) if e.partition not in known[e.topic]]
    if missing:
        listed = ", ".join(f"{e.topic}-{e.partition}" for e in missing)
        raise UnknownTopic(
            f"partition {listed} does not exist at {source.bootstrap_servers}; topic "
            f"{missing[0].topic!r} has {len(known[missing[0].topic])}. Correct set_partitions in "
            "the job"
        )


def _require(wanted: tuple[str, ...], known: Partitions, servers: str) -> None:
    missing = [topic for topic in wanted if topic not in known]
    if missing:
        raise UnknownTopic(
            f"topic {', '.join(map(repr, missing))} does not exist at {servers}; "
            "create it, or correct the name in the job"
        )


def _client_options(properties: dict[str, str]) -> dict[str, str]:
    """The properties of a sink that any librdkafka client of its cluster needs."""
    shared = ("security.", "sasl.", "ssl.", "enable.ssl.", "client.id")
    return {k: v for k, v in properties.items() if k.startswith(shared)}

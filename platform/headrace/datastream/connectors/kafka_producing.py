"""Properties of a Kafka sink, by the names of Java's producer or of librdkafka, for librdkafka.

Most names are the same. What steers only Java's client, or what the sink does anyway, is left out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from headrace.connectors.kafka.security import Security

log = logging.getLogger(__name__)

_Translated = Callable[[str], tuple[str, str]]


def _as(name: str) -> _Translated:
    return lambda value: (name, value)


def _kibibytes(value: str) -> tuple[str, str]:
    return "queue.buffering.max.kbytes", str(max(1, int(value) // 1024))


def _socket(name: str) -> _Translated:
    """-1 leaves it to the system, as 0 does in librdkafka."""
    return lambda value: (name, str(max(0, int(value))))


_TRANSLATED: dict[str, _Translated] = {
    "max.request.size": _as("message.max.bytes"),
    "buffer.memory": _kibibytes,
    "send.buffer.bytes": _socket("socket.send.buffer.bytes"),
    "receive.buffer.bytes": _socket("socket.receive.buffer.bytes"),
}
#: Of Java's client, its consumers, and Flink's own.
_WITHOUT_MEANING = frozenset(
    {
        "auto.include.jmx.reporter",
        "auto.offset.reset",
        "enable.auto.commit",
        "flink.partition-discovery.interval-millis",
        "group.id",
        "interceptor.classes",
        "key.deserializer",
        "key.serializer",
        "max.block.ms",
        "metadata.max.idle.ms",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "partition.discovery.interval.ms",
        "partitioner.adaptive.partitioning.enable",
        "partitioner.availability.timeout.ms",
        "register.producer.metrics",
        "value.deserializer",
        "value.serializer",
    }
)
#: The sink waits for all replicas and lets no record be doubled by a repeated request.
DONE_ANYWAY = {
    "acks": ("all", "-1"),
    "request.required.acks": ("all", "-1"),
    "enable.idempotence": ("true",),
}
#: Java's ways to sign in that librdkafka has other names for.
_JAVA_SECURITY = (
    "sasl.jaas.config",
    "ssl.truststore.",
    "ssl.keystore.type",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
)
_SECURITY = ("security.", "sasl.", "ssl.")


def for_librdkafka(properties: Mapping[str, str]) -> dict[str, str]:
    """Raises ValueError for a number that is none, and for a way to sign in that librdkafka
    lacks."""
    found: dict[str, str] = {}
    for name, value in properties.items():
        if name in DONE_ANYWAY:
            if value.lower() not in DONE_ANYWAY[name]:
                log.warning("Kafka sink: %s stays %s", name, DONE_ANYWAY[name][0])
        elif name in _TRANSLATED:
            found.update([_number(name, value)])
        elif name not in _WITHOUT_MEANING:
            found[name] = value
    return _security(found)


def _number(name: str, value: str) -> tuple[str, str]:
    try:
        return _TRANSLATED[name](value)
    except ValueError:
        raise ValueError(f"{name} is {value!r}; it is a number of bytes") from None


def _security(properties: dict[str, str]) -> dict[str, str]:
    if not any(name.startswith(_JAVA_SECURITY) for name in properties):
        return properties
    others = {k: v for k, v in properties.items() if not k.startswith(_SECURITY)}
    return {**others, **Security.of(properties).librdkafka()}

"""Properties of a Kafka sink, by the names of Java's producer or of librdkafka, for librdkafka.

Most names are the same. What steers only Java's client, or what the sink does anyway, is left out.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from headrace.connectors.kafka.security import Security

log = logging.getLogger(__name__)

_INT = 2**31 - 1


@dataclass(frozen=True)
class _Number:
    """A number by librdkafka's name, which takes less of them than Java does. -1 leaves a socket's
    buffer to the system in Java, 0 in librdkafka."""

    name: str
    lowest: int = 0
    highest: int = _INT
    #: So many of Java's units are one of librdkafka's.
    unit: int = 1

    def of(self, java: str, value: str) -> str:
        """Raises ValueError for what is no number; warns of one that is too large or too small."""
        try:
            given = int(value)
        except ValueError:
            raise ValueError(f"{java} is {value!r}; it is a whole number") from None
        taken = max(self.lowest, min(self.highest, given // self.unit))
        if taken != given // self.unit and given != -1:
            log.warning("Kafka sink: %s is %s; taken as %s of %s", java, given, taken, self.name)
        return str(taken)


_NUMBERS = {
    "batch.size": _Number("batch.size", lowest=1),
    "buffer.memory": _Number("queue.buffering.max.kbytes", lowest=1, unit=1024),
    "max.request.size": _Number("message.max.bytes", highest=1_000_000_000),
    "metadata.max.age.ms": _Number("metadata.max.age.ms", lowest=1, highest=86_400_000),
    "receive.buffer.bytes": _Number("socket.receive.buffer.bytes", highest=100_000_000),
    "request.timeout.ms": _Number("request.timeout.ms", lowest=1, highest=900_000),
    "send.buffer.bytes": _Number("socket.send.buffer.bytes", highest=100_000_000),
}
#: With more of them at a time a producer cannot tell whether a request was repeated.
_IDEMPOTENT = dict.fromkeys(
    ("max.in.flight.requests.per.connection", "max.in.flight"),
    _Number("max.in.flight.requests.per.connection", lowest=1, highest=5),
)
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
        "socket.connection.setup.timeout.max.ms",
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
_HOST_CHECK = "ssl.endpoint.identification.algorithm"
#: Java's classes and rules; which partition a record gets is the sink's to say.
_PARTITIONERS = ("partitioner.class", "partitioner.ignore.keys")


def for_librdkafka(properties: Mapping[str, str], idempotent: bool = True) -> dict[str, str]:
    """`idempotent`: a request that is repeated may double no record. Raises ValueError for a number
    that is none, and for a way to sign in that librdkafka lacks."""
    numbers = {**_NUMBERS, **_IDEMPOTENT} if idempotent else _NUMBERS
    found: dict[str, str] = {}
    for name, value in properties.items():
        if name in DONE_ANYWAY:
            if value.lower() not in DONE_ANYWAY[name]:
                log.warning("Kafka sink: %s stays %s", name, DONE_ANYWAY[name][0])
        elif name in _PARTITIONERS:
            log.warning(
                "Kafka sink: %s is left out; use the record serializer's set_partitioner", name
            )
        elif name in numbers:
            found[numbers[name].name] = numbers[name].of(name, value)
        elif name == _HOST_CHECK:
            found[name] = value or "none"  # as Java says that there is none
        elif name not in _WITHOUT_MEANING:
            found[name] = value
    return _security(found)


def _security(properties: dict[str, str]) -> dict[str, str]:
    if not any(name.startswith(_JAVA_SECURITY) for name in properties):
        return properties
    others = {k: v for k, v in properties.items() if not k.startswith(_SECURITY)}
    return {**others, **Security.of(properties).librdkafka()}

"""Sources that are not a connector of their own, and what goes wrong when reading any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.datastream.connectors.base import Source

#: Side output of a source node for records its schema could not read.
DEAD_LETTERS = "dead-letters"


@dataclass(frozen=True)
class CollectionSource(Source):
    """Values that travel with the program."""

    values: tuple[Any, ...]

    @property
    def described(self) -> str:
        return "collection"


@dataclass(frozen=True)
class SocketSource(Source):
    """Lines of a TCP server."""

    host: str
    port: int

    @property
    def described(self) -> str:
        return f"socket:{self.host}:{self.port}"


@dataclass(frozen=True)
class DeadLetter:
    """A record that could not be read: its bytes, why, and where it stood."""

    key: bytes | None
    value: bytes | None
    reason: str
    topic: str
    partition: int
    offset: int


@dataclass(frozen=True)
class DeadLetterSchema:
    """A dead letter as a Kafka record: the bytes as they came, the rest in headers."""

    topic: str

    def record(self, timestamp: int | None, value: DeadLetter) -> dict[str, Any]:
        headers = {
            "headrace.reason": value.reason,
            "headrace.topic": value.topic,
            "headrace.partition": str(value.partition),
            "headrace.offset": str(value.offset),
        }
        return {
            "key": value.key,
            "value": value.value,
            "headers": [(name, text.encode()) for name, text in headers.items()],
        }

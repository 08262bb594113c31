"""Sources that are not a connector of their own, and what goes wrong when reading any."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from headrace.datastream.connectors.base import Source
from headrace.runtime import context

#: Side output of a source node for records its schema could not read.
DEAD_LETTERS = "dead-letters"
#: What the key, value and headers of a dead letter may take: the brokers' default of
#: `max.message.bytes`, 1,048,588, less what surrounds a record.
MAX_LETTER_BYTES = 1_048_588 - 1024
MAX_KEY_BYTES = 256 * 1024
MAX_REASON_BYTES = 1024


@dataclass(frozen=True)
class CollectionSource(Source):
    """Values that travel with the program."""

    values: tuple[Any, ...]
    bounded: ClassVar[bool] = True

    @property
    def described(self) -> str:
        return "collection"


@dataclass(frozen=True)
class SocketSource(Source):
    """Lines of a TCP server."""

    host: str
    port: int
    bounded: ClassVar[bool] = False

    @property
    def described(self) -> str:
        return f"socket:{self.host}:{self.port}"


def dead_letter_prefix(group_id: str | None) -> str:
    """Of the transactional ids of a job's dead letters: the job's own, the same from start to
    start. Raises ValueError where neither platform nor group id tells jobs apart."""
    launched = context.launched()
    if launched is not None:
        return f"headrace-{launched.job_id}-dead-letters"
    if not group_id:
        raise ValueError(
            "a KafkaSource with dead letters needs set_group_id, unique to the job: the "
            "transactions that write them are named after it"
        )
    return f"{re.sub('[^A-Za-z0-9._-]', '_', group_id)}-dead-letters"


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
    """A dead letter as a Kafka record: the bytes as they came, the rest in headers. Of a record
    too large for a broker the first bytes are kept, and a header tells the original size."""

    topic: str

    def record(self, timestamp: int | None, value: DeadLetter) -> dict[str, Any]:
        headers = [
            ("headrace.reason", _bytes(value.reason)[:MAX_REASON_BYTES]),
            ("headrace.topic", _bytes(value.topic)),
            ("headrace.partition", _bytes(value.partition)),
            ("headrace.offset", _bytes(value.offset)),
        ]
        key, body = value.key, value.value
        if key is not None and len(key) > MAX_KEY_BYTES:
            headers.append(("headrace.truncated-key", _bytes(len(key))))
            key = key[:MAX_KEY_BYTES]
        room = MAX_LETTER_BYTES - len(key or b"") - sum(len(n) + len(v) for n, v in headers)
        if body is not None and len(body) > room:
            headers.append(("headrace.truncated", _bytes(len(body))))
            body = body[:room]
        return {"key": key, "value": body, "headers": headers}


def _bytes(value: object) -> bytes:
    return str(value).encode(errors="backslashreplace")

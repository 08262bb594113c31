"""The commit of a job whose sinks are all Kafka's."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from headrace.connectors.kafka.messages import PreparedTransaction, Resume
from headrace.connectors.kafka.participant import KafkaParticipant
from headrace.connectors.kafka.settings import SinkSettings, check_together
from headrace.connectors.twophase import committer
from headrace.connectors.twophase.participant import Message


class Committer(committer.Committer):
    """The general one, constructed from Kafka sinks' settings; takes their writers' messages."""

    def __init__(
        self,
        sinks: Iterable[SinkSettings],
        checkpoint_dir: str | Path,
        resume: Resume | None = None,
    ) -> None:
        every = list(sinks)
        check_together(every)
        super().__init__(map(KafkaParticipant, every), checkpoint_dir, resume)

    def commit(
        self,
        batch_id: int,
        prepared: Iterable[Message | PreparedTransaction | None],
        extra: dict[str, Any] | None = None,
    ) -> None:
        super().commit(batch_id, map(sealed, prepared), extra)

    def abort(
        self, batch_id: int, prepared: Iterable[Message | PreparedTransaction | None]
    ) -> None:
        super().abort(batch_id, map(sealed, prepared))


def sealed(message: Message | PreparedTransaction | None) -> Message | None:
    """A Kafka writer's message in the form that every sink's has."""
    return message.sealed() if isinstance(message, PreparedTransaction) else message

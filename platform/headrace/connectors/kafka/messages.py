"""The values that driver and tasks exchange about Kafka; the general ones are `twophase`'s."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.connectors.twophase.messages import (
    Key,
    Prepared,
    Recovery,
    Resume,
    TaskIdentity,
    Written,
)

__all__ = ["Key", "PreparedTransaction", "Recovery", "Resume", "TaskIdentity", "Written"]


@dataclass(frozen=True, slots=True)
class PreparedTransaction:
    """A transaction whose records, and whose batch marker, Kafka has acknowledged."""

    sink: str
    partition: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    count: int
    attempt: int = 0
    retry: int = 0
    #: A producer writes several transactions; None in manifests of versions where it wrote one.
    batch_id: int | None = None

    @property
    def key(self) -> Key:
        return self.sink, self.partition

    def sealed(self) -> Prepared:
        """In the form that manifests keep."""
        handle = {
            "transactional_id": self.transactional_id,
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
            "batch_id": self.batch_id,
        }
        return Prepared(self.sink, self.partition, self.count, handle, self.attempt, self.retry)

    @classmethod
    def opened(cls, prepared: Prepared) -> PreparedTransaction:
        """The opposite of `sealed`."""
        return cls(
            sink=prepared.sink,
            partition=prepared.partition,
            count=prepared.count,
            attempt=prepared.attempt,
            retry=prepared.retry,
            **prepared.handle,
        )

"""What can go wrong with Kafka, beside what can with any sink (`twophase.errors`)."""

from __future__ import annotations

from headrace.connectors.twophase.errors import (
    ChangedRecords,
    CheckpointReplaced,
    CommitIncomplete,
    CommitRefused,
    InvalidSettings,
    OutcomeUnknown,
    PrefixInUse,
    SecondDriver,
    SinkError,
    Unreachable,
    WriteFailed,
)

__all__ = [
    "ChangedRecords",
    "CheckpointReplaced",
    "ClusterUnreachable",
    "CommitIncomplete",
    "CommitRefused",
    "InvalidRecord",
    "InvalidSettings",
    "MarkersBlocked",
    "OutcomeUnknown",
    "PrefixInUse",
    "ProducerUnavailable",
    "SecondDriver",
    "WriteFailed",
]


class InvalidRecord(WriteFailed):
    """A record cannot be written to Kafka as it is, so its partition fails; with exactly-once
    nothing of the batch becomes visible. Correct what makes the records, or the topic."""


class ProducerUnavailable(SinkError):
    """No transactional producer could be initialised; nothing of this partition was written and
    the task will be tried again."""


class ClusterUnreachable(Unreachable):
    """The Kafka cluster does not answer. Nothing was changed; start again when it does."""


class MarkersBlocked(SinkError):
    """The topic of the batch markers cannot be read to its end because a transaction of another
    job is still open in it. Nothing is lost; start again when it has ended or timed out."""

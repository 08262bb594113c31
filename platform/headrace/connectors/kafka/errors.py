"""What can go wrong, one class per thing the operator has to do.

The docstring of a class is the first sentence of its message: what happened, what it means for
the data, what to do next. The argument is the detail of this case.
"""

from __future__ import annotations

import inspect


class KafkaSinkError(Exception):
    """The Kafka sink stopped."""

    def __init__(self, detail: str = "") -> None:
        meaning = " ".join((inspect.cleandoc(type(self).__doc__ or "")).split())
        super().__init__(f"{meaning} ({detail})" if detail else meaning)
        self.detail = detail

    def __reduce__(self) -> tuple[type[KafkaSinkError], tuple[str]]:
        return type(self), (self.detail,)


class InvalidSettings(KafkaSinkError, ValueError):
    """The settings of a Kafka sink are not usable; nothing was written. Correct them and
    start again."""


class ProducerUnavailable(KafkaSinkError):
    """No transactional producer could be initialised; nothing of this partition was written and
    the task will be tried again."""


class WriteFailed(KafkaSinkError):
    """Kafka did not take every record of this partition; its transaction is aborted, so none of
    them is visible, and the task will be tried again."""


class ChangedRecords(KafkaSinkError):
    """The last batch was run again to finish it, and this partition got other records than the
    first time. Part of the batch is committed already, so going on would lose records or write
    them twice; nothing was written. Restart with the parallelism and the sources of the earlier
    run; if the program itself answers differently each time, it cannot be exactly-once."""


class ClusterUnreachable(KafkaSinkError):
    """The Kafka cluster does not answer. Nothing was changed; start again when it does."""


class CheckpointReplaced(KafkaSinkError):
    """The checkpoint is older than the manifests beside it: batches that it does not know are
    committed already, and would be written twice. This batch is aborted. Restore the newer
    checkpoint; or, to write those batches again on purpose, remove the newer manifests."""


class SecondDriver(KafkaSinkError):
    """Another driver has taken over this job. This one stops; what it wrote and did not commit
    is aborted, so nothing is written twice."""


class CommitIncomplete(KafkaSinkError):
    """Kafka did not commit every transaction of a batch. The batch stays on record; the next
    start asks again, and writes again only what is certain not to be committed."""


class CommitRefused(KafkaSinkError):
    """Kafka refused to commit or abort a transaction for a reason that trying again does not
    change. The batch stays on record; correct the cause (permissions, broker) and start again."""


class OutcomeUnknown(KafkaSinkError):
    """Kafka no longer knows whether a transaction of the last batch was committed. Going on could
    lose its records or write them twice, so the job does not start. Look into the topic for the
    records of that batch, then remove the batch's manifest to have it written again, or restore
    a savepoint."""


class MarkersBlocked(KafkaSinkError):
    """The topic of the batch markers cannot be read to its end because a transaction of another
    job is still open in it. Nothing is lost; start again when it has ended or timed out."""

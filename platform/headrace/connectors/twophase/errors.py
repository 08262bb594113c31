"""What can go wrong, one class per thing the operator has to do.

The docstring of a class is the first sentence of its message: what happened, what it means for
the data, what to do next. The argument is the detail of this case.
"""

from __future__ import annotations

import inspect


class SinkError(Exception):
    """A sink stopped."""

    def __init__(self, detail: str = "") -> None:
        meaning = " ".join((inspect.cleandoc(type(self).__doc__ or "")).split())
        super().__init__(f"{meaning} ({detail})" if detail else meaning)
        self.detail = detail

    def __reduce__(self) -> tuple[type[SinkError], tuple[str]]:
        return type(self), (self.detail,)


class InvalidSettings(SinkError, ValueError):
    """The settings of a sink are not usable; nothing was written. Correct them and start
    again."""


class WriteFailed(SinkError):
    """Not every record of this partition was taken; its transaction is aborted, so none of them
    is visible, and the task will be tried again."""


class ChangedRecords(SinkError):
    """The last batch was run again, and it got other records than the first time. At least part of
    the batch is committed already, so going on would lose records or write them twice; nothing was
    written. Restart with the parallelism and the sources of the earlier run; if the program itself
    answers differently each time, it cannot be exactly-once. If the checkpoint has lost what Spark
    had planned for the batch (a power failure), restore an earlier savepoint."""


class Unreachable(SinkError):
    """The system behind a sink does not answer. Nothing was changed; start again when it does."""


class CheckpointReplaced(SinkError):
    """The checkpoint is older than the manifests beside it: batches that it does not know are
    committed already, and would be written twice. This batch is aborted. Restore the newer
    checkpoint; or, to write those batches again on purpose, remove the newer manifests."""


class SecondDriver(SinkError):
    """Another driver has taken over this job. This one stops; what it wrote and did not commit
    is aborted, so nothing is written twice."""


class PrefixInUse(SinkError):
    """Another job uses the same transactional id prefix, and the two would abort each other's
    transactions. This one stops and wrote nothing that is visible. Give it a prefix of its own,
    or stop the other job."""


class CommitIncomplete(SinkError):
    """Not every transaction of a batch could be committed. The batch stays on record; the next
    start asks again, and writes again only what is certain not to be committed."""


class CommitRefused(SinkError):
    """Committing or aborting a transaction was refused for a reason that trying again does not
    change. The batch stays on record; correct the cause (permissions, the server) and start
    again."""


class OutcomeUnknown(SinkError):
    """It is no longer known whether a transaction of the last batch was committed. Going on could
    lose its records or write them twice, so the job does not start. Look into the output for the
    records of that batch, then remove the batch's manifest to have it written again, or restore
    a savepoint."""


class TransactionLost(SinkError):
    """A prepared transaction is gone, and it is certain that none of its records is visible or
    will be. They are written again at the next start."""

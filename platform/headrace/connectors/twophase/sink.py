"""The base of sinks for systems of your own; Flink's `TwoPhaseCommitSinkFunction`.

What a subclass must promise, hook by hook, is in the hooks' docstrings. Where each is called:

    task     begin_transaction, invoke ..., pre_commit    once per partition and micro-batch
    task     abort                                        the task fails, before or after pre_commit
    driver   claim_place                                  at the start, and every few seconds
    driver   commit                                       the batch is decided
    driver   abort                                        the batch failed before it was decided
    driver   list_transactions, recover_and_abort         leftovers, at the start and now and then
    driver   recover_and_commit                           the last batch, at the start

"Driver" and "task" are different processes, often on different machines, and each may die at any
point and be replaced. A transaction must therefore be all that it takes to end it from anywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from headrace.connectors.twophase.errors import OutcomeUnknown, TransactionLost

__all__ = [
    "ClaimPlace",
    "InvokeContext",
    "OutcomeUnknown",
    "TransactionContext",
    "TransactionLost",
    "TwoPhaseCommitSink",
]

IN = TypeVar("IN")
TXN = TypeVar("TXN")


@dataclass(frozen=True, slots=True)
class TransactionContext:
    """Whose transaction is begun."""

    #: Unique for ever: `<root>-<epoch>.<batch>.<partition>.<attempt>.<8 hex digits>`.
    name: str
    root: str
    epoch: int
    batch_id: int
    partition: int
    attempt: int
    #: 0 unless another task had the partition in this batch before, and may have left something.
    retry: int


class InvokeContext:
    """Of the value that is written; valid during that call only."""

    __slots__ = ("_timestamp",)

    def __init__(self) -> None:
        self._timestamp: int | None = None

    def timestamp(self) -> int | None:
        """The value's event time in ms, None without one."""
        return self._timestamp


class ClaimPlace(Protocol):
    """A short text about one root, kept in the system that is written to. Methods may be called by
    several threads; what they raise is tried again, but `CommitRefused`: then nothing is
    checked."""

    @property
    def described(self) -> str:
        """For who wants to look at it."""

    def read(self) -> str | None:
        """What anybody wrote last, whole; None before the first."""

    def write(self, claim: str) -> None:
        """Seen by every `read` that begins later. It need not survive a power failure."""


class TwoPhaseCommitSink(ABC, Generic[IN, TXN]):
    """A sink that takes part in the commit of its job's micro-batches, together with all others.

    A transaction (TXN) is a JSON value: text, a number, a list or a dict of such; after
    `pre_commit` it is kept in the batch's manifest, so it has to be small and must hold no
    secret. Connections and open files stay in attributes of the sink, made in
    `begin_transaction`: the sink itself is pickled, and each task works on a copy of its own, with
    one transaction at a time. Partitions without records have no transaction.
    """

    #: What every transaction's name begins with; unique to the job in the system it writes to.
    #: Empty: a name made for the job's checkpoint. With a prefix of its own, a job that is started
    #: anew without its checkpoint still finds and aborts what its earlier life left.
    transactional_id_prefix: str = ""
    #: False: at-least-once. `pre_commit` makes the values visible by itself, and what concerns
    #: commits is not called; values of a batch that is run again are written again.
    transactional: bool = True
    #: How long the driver tries to commit before the job fails (and goes on at the next start).
    commit_timeout_seconds: float = 120.0

    @property
    def described(self) -> str:
        """Kind of sink, as reports and plans show it; two of a kind are numbered. Stays the same
        from start to start."""
        return type(self).__name__

    def check(self, root: str) -> None:
        """On the driver, at every start, before anything else: refuse what would fail later. Make
        here what all transactions share, if it is not there. `root` begins all their names.
        Raises `InvalidSettings`, `Unreachable`."""

    def claim_place(self, root: str) -> ClaimPlace | None:
        """Where jobs that would use `root` see each other: a second one, with a copy of the
        checkpoint or the same prefix, is then refused while the first runs (`PrefixInUse`), before
        it aborts the first's transactions. None: nobody checks that."""
        return None

    @abstractmethod
    def begin_transaction(self, context: TransactionContext) -> TXN:
        """In a task, before the first value of a partition. The system must be able to find the
        transaction by `context.name` from here on (see `list_transactions`). When `context.retry`
        is not 0, an earlier task of the partition may have left a transaction; if that could block
        this one (by its locks), abort it here."""

    @abstractmethod
    def invoke(self, transaction: TXN, value: IN, context: InvokeContext) -> None:
        """Write a value. Nobody may see it before `commit`."""

    @abstractmethod
    def pre_commit(self, transaction: TXN) -> None:
        """In the task, after its last value. When this returns, everything of the transaction
        survives the death of this process and its machine, and `commit` can be carried out by
        another process that has nothing but `transaction` (which may be changed here)."""

    @abstractmethod
    def commit(self, transaction: TXN) -> None:
        """Make the transaction visible, all of it at once if the system can. It is called again
        when it is not certain that it returned, also after days, also by two processes at once:
        a transaction that is committed already must be left as it is.

        Returning means: it is visible, and stays so when everything dies. Otherwise raise

        - `TransactionLost` when it is certain that nothing of it is or will be visible (timed
          out, aborted): its values are written again,
        - `OutcomeUnknown` when the system does not know any more: the job stops,
        - anything else for a failure that may pass: it is called again until
          `commit_timeout_seconds`, then the job fails and tries again at its next start.

        "The transaction is unknown" is neither a success nor a loss by itself. Keep a mark in the
        system, written in the same transaction, that says which of the two it is.
        """

    @abstractmethod
    def abort(self, transaction: TXN) -> None:
        """Make sure that nothing of the transaction becomes visible, and give back what it holds.
        In the task that fails, or on the driver; called for transactions in any state before
        `commit`, and again for those that are gone. Best effort: what raises here is logged, and
        found again by `list_transactions`."""

    def recover_and_commit(self, transaction: TXN) -> None:
        """As `commit`, at the start of a job, for the last batch of the run before."""
        self.commit(transaction)

    def recover_and_abort(self, transaction: TXN) -> None:
        """As `abort`, for a transaction that a dead task or driver left. It must be certain when
        this returns that the transaction cannot become visible."""
        self.abort(transaction)

    @abstractmethod
    def list_transactions(self, root: str) -> Iterable[tuple[str, TXN]]:
        """Name and transaction of everything under `root` that is neither committed nor aborted,
        whoever began it. This is how transactions are found that a dead task left and the driver
        never heard of. To answer nothing is right only where they harm nobody and end by
        themselves. A transaction that `commit` has begun to make visible must not be listed."""

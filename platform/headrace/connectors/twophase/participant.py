"""What the commit of a job asks of each of its sinks."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Protocol

from headrace.connectors.twophase.deadline import Deadline
from headrace.connectors.twophase.messages import Prepared, Written
from headrace.connectors.twophase.ownership import Identity

Message = Prepared | Written


class Outcome(Enum):
    """What became of a prepared transaction that was to be committed."""

    #: Its records are visible; perhaps they were before.
    COMMITTED = "committed"
    #: None of its records is visible, or will be.
    LOST = "lost"
    #: It is gone. `Participant.settle` says after the fencing which of the two it is.
    GONE = "gone"


class SinkWriter(Protocol):
    """What a task does with one partition of one sink. It calls `write` any number of times, then
    `prepare` once; `abort` at any point, also after `prepare`, if it fails."""

    def write(self, records: list[Any]) -> None:
        """Hand over records. The list belongs to the writer afterwards."""

    def prepare(self) -> Message | None:
        """All records are safe; None if there were none. No `write` after it."""

    def abort(self) -> None:
        """Make sure nothing of a transaction becomes visible. Never raises."""


class Participant(Protocol):
    """One sink as the driver sees it.

    `check` is called once at every start, before anything else. The other methods are called for
    transactional sinks only; all of them may be called again with the same arguments, and in a
    process that never saw the transactions begin. They try again by themselves until the
    deadline; what they raise are `SinkError`s.
    """

    @property
    def name(self) -> str:
        """Unique within the job and the same from start to start."""

    @property
    def root(self) -> str:
        """What the names of its transactions begin with, with a dash behind it. No other sink of
        the job has it; it may be another one from start to start."""

    def under(self, root: str) -> Participant:
        """The same sink as it was when it had another root."""

    @property
    def transactional(self) -> bool:
        """Does the sink need commits?"""

    @property
    def patience(self) -> float:
        """Seconds that a commit may be tried for."""

    def check(self) -> str:
        """Refuse now what would fail later (`InvalidSettings`, `Unreachable`). The
        answer names the place that keeps the outcomes of transactions: when it differs from the
        one in a manifest, that place can no longer be asked."""

    def hold(self, job: Identity, *, starting: bool) -> None:
        """Say that `job` uses the sink, and stop it if another does and would get in its way:
        once at every start after `check`, which may take a while, and now and then after a
        commit, which may not."""

    def release(self, job: Identity) -> None:
        """`job` has ended on purpose."""

    def newest_epoch(self, deadline: Deadline) -> int:
        """The newest epoch of any transaction that the system knows, 0 if none."""

    def commit(
        self, prepared: Sequence[Prepared], deadline: Deadline, *, recovering: bool
    ) -> dict[Prepared, Outcome]:
        """End every one of them. Raises `CommitRefused`, `OutcomeUnknown`, or `CommitIncomplete`
        at the deadline."""

    def abort(self, prepared: Sequence[Prepared], deadline: Deadline) -> None:
        """As `commit`, but none of their records becomes visible."""

    def fence(self, epoch: int, fenced_before: int, deadline: Deadline) -> int:
        """Abort every transaction that an epoch before `epoch` left, and shut its writers out if
        the system can; epochs before `fenced_before` were shut out earlier. How many were open."""

    def sweep(self, epoch: int, deadline: Deadline) -> int:
        """Abort every transaction of `epoch` and before, when none should be; how many."""

    def settle(
        self, gone: Sequence[Prepared], batch: Sequence[Prepared], *, ledger_kept: bool
    ) -> set[Prepared]:
        """Those that were committed, of transactions that `commit` found GONE; called after
        `fence`. `batch` are all that the batch's manifests have of this sink. Raises
        `OutcomeUnknown` where that is not certain."""

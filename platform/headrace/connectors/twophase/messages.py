"""The values that driver and tasks exchange. Small and picklable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

#: A partition of a sink in a batch.
Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class TaskIdentity:
    """Which task writes. `attempt` is unique within the application (Spark's taskAttemptId);
    `retry` is 0 unless another task had the partition in this batch before (attemptNumber)."""

    batch_id: int
    partition: int
    attempt: int = 0
    retry: int = 0

    @classmethod
    def current(cls, batch_id: int | None = None) -> TaskIdentity:
        """Of the Spark task this is called in. Without `batch_id`, the streaming query's."""
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is None:
            raise RuntimeError("not in a Spark task")
        if batch_id is None:
            text = context.getLocalProperty("streaming.sql.batchId")
            if text is None:
                raise RuntimeError("this Spark task belongs to no streaming batch")
            batch_id = int(text)
        return cls(
            batch_id, context.partitionId(), context.taskAttemptId(), context.attemptNumber()
        )


@dataclass(frozen=True, slots=True)
class Prepared:
    """A transaction whose records survive whatever dies, and of which nothing is visible yet."""

    sink: str
    partition: int
    count: int
    #: What its sink needs to end it from anywhere; JSON.
    handle: Any = field(hash=False)
    attempt: int = 0
    #: Another task had the partition before, and may have left a transaction of its own.
    retry: int = 0

    @property
    def key(self) -> Key:
        return self.sink, self.partition


@dataclass(frozen=True, slots=True)
class Written:
    """Records that need no commit: another guarantee than exactly-once, or committed earlier
    (`skipped`: read again and not written, because recovery found them committed)."""

    sink: str
    partition: int
    count: int
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Resume:
    """What recovery found, for every task and commit of this run. One epoch is one run."""

    epoch: int = 0
    #: Batch of the newest manifest, None before the first.
    batch_id: int | None = None
    #: Number that the next manifest of `batch_id` gets.
    number: int = 0
    #: Records per partition of `batch_id` that are committed, and that are certainly not.
    committed: dict[Key, int] = field(default_factory=dict)
    missing: dict[Key, int] = field(default_factory=dict)
    #: Sinks that `batch_id` was written to; a sink that is new since takes all of it.
    sinks: frozenset[str] = frozenset()
    #: Those of them whose records its manifests count, because they were transactional.
    counted: frozenset[str] = frozenset()
    #: Per transactional sink, which place keeps its outcomes: whether it is still the same one.
    ledgers: dict[str, str] = field(default_factory=dict)

    def is_committed(self, task: TaskIdentity, sink: str) -> bool:
        """Must the task read its records and not write them?"""
        if self.batch_id != task.batch_id or sink not in self.sinks:
            return False
        return not self.missing or (sink, task.partition) in self.committed

    def expected_count(self, task: TaskIdentity, sink: str) -> int | None:
        """Records that the partition had the first time; None when nobody counted them, or when
        they may be spread otherwise by now: another batch, or one that is committed as a whole."""
        if self.batch_id != task.batch_id or sink not in self.counted or not self.missing:
            return None
        key = sink, task.partition
        return self.committed.get(key, self.missing.get(key, 0))


@dataclass(frozen=True, slots=True)
class Recovery:
    """What `recover` did, in transactions."""

    recommitted: int = 0
    aborted: int = 0
    recomputed: int = 0
    resume: Resume = field(default_factory=Resume)

    def counts(self) -> dict[str, int]:
        return {
            "recommitted": self.recommitted,
            "aborted": self.aborted,
            "recomputed": self.recomputed,
        }

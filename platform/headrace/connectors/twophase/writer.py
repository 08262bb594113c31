"""The task's side of a `TwoPhaseCommitSink`: begin, write, prepare, or abort."""

from __future__ import annotations

import copy
import json
import logging
import secrets
from typing import Any

from headrace.connectors.twophase import errors, steps
from headrace.connectors.twophase.messages import Prepared, Resume, TaskIdentity, Written
from headrace.connectors.twophase.names import TransactionName
from headrace.connectors.twophase.participant import Message, SinkWriter
from headrace.connectors.twophase.sink import (
    InvokeContext,
    TransactionContext,
    TwoPhaseCommitSink,
)

log = logging.getLogger(__name__)


def open_writer(
    sink: TwoPhaseCommitSink[Any, Any], name: str, root: str, task: TaskIdentity, resume: Resume
) -> SinkWriter:
    """The writer of `task` for records of (timestamp, value)."""
    expected = resume.expected_count(task, name) if sink.transactional else None
    if resume.is_committed(task, name):
        return SkippingWriter(name, task, expected)
    return TransactionWriter(copy.copy(sink), name, root, task, resume.epoch, expected)


class SkippingWriter:
    """For a partition that recovery found committed: reads its records, writes none."""

    def __init__(self, name: str, task: TaskIdentity, expected: int | None) -> None:
        self._name = name
        self._task = task
        self._expected = expected
        self._count = 0

    def write(self, records: list[Any]) -> None:
        self._count += len(records)

    def prepare(self) -> Written | None:
        check_count(self._name, self._task, self._expected, self._count)
        if not self._count:
            return None
        return Written(self._name, self._task.partition, self._count, skipped=True)

    def abort(self) -> None:
        pass


class TransactionWriter:
    """One transaction for the partition, begun with its first record."""

    def __init__(
        self,
        sink: TwoPhaseCommitSink[Any, Any],
        name: str,
        root: str,
        task: TaskIdentity,
        epoch: int,
        expected: int | None,
    ) -> None:
        self._sink = sink
        self._name = name
        self._task = task
        self._context = _context(root, epoch, task)
        self._expected = expected
        self._invoking = InvokeContext()
        self._begun = False
        self._transaction: Any = None
        self._count = 0

    def write(self, records: list[tuple[int | None, Any]]) -> None:
        if not records:
            return
        if not self._begun:
            self._begin()
        self._count += len(records)
        invoke, transaction, context = self._sink.invoke, self._transaction, self._invoking
        for timestamp, value in records:
            context._timestamp = timestamp
            invoke(transaction, value, context)

    def prepare(self) -> Message | None:
        check_count(self._name, self._task, self._expected, self._count)
        if not self._begun:
            return None
        self._sink.pre_commit(self._transaction)
        if not self._sink.transactional:
            return Written(self._name, self._task.partition, self._count)
        prepared = Prepared(
            sink=self._name,
            partition=self._task.partition,
            count=self._count,
            handle=as_json(self._name, self._transaction),
            attempt=self._task.attempt,
            retry=self._task.retry,
        )
        steps.reached(steps.Step.PREPARED)
        return prepared

    def abort(self) -> None:
        if not self._begun:
            return
        try:
            self._sink.abort(self._transaction)
        except Exception as error:
            # The driver aborts it at a later commit, or the next recovery.
            log.warning("could not abort %s: %s", self._context.name, error)

    def _begin(self) -> None:
        self._transaction = self._sink.begin_transaction(self._context)
        self._begun = True
        steps.reached(steps.Step.BEGUN)


def check_count(name: str, task: TaskIdentity, expected: int | None, count: int) -> None:
    """Raises `ChangedRecords` when a partition that is run again has other records."""
    if expected is not None and count != expected:
        raise errors.ChangedRecords(
            f"sink {name}, partition {task.partition}, batch {task.batch_id}: "
            f"{expected} records then, {count} now"
        )


def as_json(name: str, transaction: Any) -> Any:
    """`transaction` as a manifest will give it back. Raises TypeError for what is no JSON."""
    try:
        return json.loads(json.dumps(transaction, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"sink {name}: its transaction is no JSON value ({error}); keep connections in "
            "attributes of the sink"
        ) from None


def _context(root: str, epoch: int, task: TaskIdentity) -> TransactionContext:
    token = secrets.token_hex(4)
    name = TransactionName(root, epoch, task.batch_id, task.partition, task.attempt, token)
    return TransactionContext(
        name=str(name),
        root=root,
        epoch=epoch,
        batch_id=task.batch_id,
        partition=task.partition,
        attempt=task.attempt,
        retry=task.retry,
    )

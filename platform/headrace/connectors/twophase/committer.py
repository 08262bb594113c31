"""The driver's side of the protocol: recover once, then commit or abort batch after batch."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from headrace.connectors.twophase import errors, outcome, recovery, steps
from headrace.connectors.twophase.deadline import Deadline
from headrace.connectors.twophase.manifest import Manifest, ManifestStore
from headrace.connectors.twophase.messages import Prepared, Recovery, Resume
from headrace.connectors.twophase.ownership import OwnerStore
from headrace.connectors.twophase.participant import Message, Outcome, Participant

log = logging.getLogger(__name__)

ABORT_SECONDS = 10.0
#: Leftovers of failed tasks are looked for at most this often, unless a task was a retry.
SWEEP_SECONDS = 5.0

#: When this process last looked for leftovers, by checkpoint directory.
_swept: dict[tuple[int, Path], float] = {}

T = TypeVar("T")


class Committer:
    """Commits the batches of one job, all its sinks together.

    A driver calls `recover` once before the query starts and hands `Recovery.resume` to its
    tasks. `commit` and `abort` may be called in another process: construct a Committer there
    from the same sinks, directory and `resume`. Connections are kept per process.

    `checkpoint_dir` must be on a file system that all drivers of the job share and that can
    create files exclusively. Sinks without transactions may be among `sinks`; they need no
    commit. Raises `InvalidSettings` when two sinks share a name.
    """

    def __init__(
        self,
        sinks: Iterable[Participant],
        checkpoint_dir: str | Path,
        resume: Resume | None = None,
    ) -> None:
        self._every = list(sinks)
        names = [sink.name for sink in self._every]
        if len(set(names)) < len(names):
            raise errors.InvalidSettings(f"sinks of one job need names of their own, got {names}")
        self._directory = Path(checkpoint_dir)
        self._job = recovery.Job(
            {sink.name: sink for sink in self._every if sink.transactional},
            ManifestStore(self._directory),
            OwnerStore(self._directory),
        )
        self.resume = resume or Resume()

    def recover(self, completed: int | None = None) -> Recovery:
        """Take the job over and finish its last batch: the steps of `recovery`.

        `completed` is the newest batch in the engine's own commit log, if there is one: the
        engine never runs it again, so what became of its transactions is not asked.
        Raises `InvalidSettings`, `Unreachable`, `CommitIncomplete`, `CommitRefused`,
        `OutcomeUnknown`, and what else a sink's own check raises.
        """
        for sink in self._every:
            if not sink.transactional:
                sink.check()
        found = Recovery()
        if self._job.sinks:
            found = recovery.recover(self._job, completed, self._deadline())
        self.resume = found.resume
        return found

    def hold(self) -> None:
        """Say that the job still runs: commits do it by themselves. A driver that may have
        nothing to commit for a while calls it every few seconds. Raises what `recover` does."""
        for sink in self._job.sinks.values():
            sink.hold(self._job.owners.identity(), starting=False)

    def release(self) -> None:
        """The job has ended on purpose: what it held is free at once. Never raises."""
        for sink in self._job.sinks.values():
            try:
                sink.release(self._job.owners.identity())
            except Exception as error:
                log.warning("sink %s is free for other jobs only later: %s", sink.name, error)

    def is_current(self, completed: int | None = None) -> bool:
        """Does `resume` still hold for the next batch? False before the first recovery, when
        another driver recovered since, and when a batch was decided and its end is not known."""
        if not self._job.sinks:
            return True
        if self.resume.epoch == 0 or self._job.owners.newest() != self.resume.epoch:
            return False
        newest = self._job.manifests.newest_name()
        if newest is None or (completed is not None and newest[0] <= completed):
            return True
        return newest[0] == self.resume.batch_id and newest[1] < self.resume.number

    def commit(
        self,
        batch_id: int,
        prepared: Iterable[Message | None],
        extra: dict[str, Any] | None = None,
    ) -> None:
        """Make the batch visible: all of its transactions, or what is left of them after the
        next recovery. Calling it again with the same transactions finishes what is left.

        1. Stop if another driver owns the job.
        2. Create the manifest: from here on the batch is to be committed.
        3. End all transactions, in parallel.
        4. Abort what failed or straggling tasks left open: at once when a task of this batch was
           a retry, else now and then.

        Raises `SecondDriver`, `CommitIncomplete`, `CommitRefused`, `OutcomeUnknown`,
        `ChangedRecords`, `CheckpointReplaced`.
        """
        if not self._job.sinks:
            return
        if not self.resume.epoch:
            raise RuntimeError("recover, or be given what recover answered, before a commit")
        messages = list(prepared)
        transactions = [each for each in messages if isinstance(each, Prepared)]
        # Step 1.
        self._check_owner(batch_id, transactions)
        if self.resume.batch_id == batch_id:
            self._check_same_records(batch_id, messages)
            if not self.resume.missing and not transactions:
                return
        # Step 2.
        steps.reached(steps.Step.DECIDING)
        manifest = self._decide(batch_id, transactions, extra or {})
        steps.reached(steps.Step.DECIDED)
        # Step 3.
        self._commit_all(manifest)
        steps.reached(steps.Step.COMMITTED)
        self._job.manifests.mark_done(manifest)
        steps.reached(steps.Step.DONE)
        self._job.manifests.prune()
        # Step 4.
        self._sweep(at_once=any(each.retry for each in transactions))

    def abort(self, batch_id: int, prepared: Iterable[Message | None]) -> None:
        """Make sure a failed batch stays invisible. What cannot be reached now is aborted at the
        next recovery. What a manifest names is past aborting and left alone."""
        known = self._job.manifests.read(batch_id, self._number(batch_id))
        decided = set(known.prepared) if known else set()
        transactions = {each for each in prepared if isinstance(each, Prepared)}
        self._abort(sorted(transactions - decided, key=lambda each: each.key))

    def clean_up(self, completed: int | None = None) -> None:
        """The query has failed, and its tasks write no more: abort at once what they left open,
        unless another driver owns the job by now, or a decided batch waits for the next recovery.
        `completed` as in `recover`. Never raises: why the query failed is what matters."""
        try:
            if self._job.sinks and self.is_current(completed):
                self._sweep(at_once=True)
        except Exception as error:
            log.warning("what failed tasks left open stays until the next start: %s", error)

    def finish(self, completed: int | None = None) -> None:
        """The job has ended on purpose, and its tasks write no more: finish or abort what a stop
        within a batch left, then `release`. Raises what `recover` does only if a batch that was
        decided is not known to be committed; anything else can wait for the next start."""
        try:
            self.recover(completed)
        except Exception as error:
            if any(not recovery.is_settled(self._job, m, completed) for m in self._decided()):
                raise
            log.warning("what stopped tasks left open stays until the next start: %s", error)
        self.release()

    def _decided(self) -> list[Manifest]:
        return self._job.manifests.newest_batch()

    def _check_owner(self, batch_id: int, transactions: list[Prepared]) -> None:
        try:
            self._job.owners.check(self.resume.epoch)
            newest = self._job.manifests.newest_name()
            if newest is not None and newest[0] > batch_id:
                raise errors.CheckpointReplaced(f"batch {batch_id}, manifest {newest[0]}")
        except errors.SinkError:
            self.abort(batch_id, transactions)
            raise

    def _check_same_records(self, batch_id: int, messages: list[Message | None]) -> None:
        """The batch is run again. Sinks that the job did not have the first time take all of it."""
        differ = outcome.differences(self.resume, messages, self._job.sinks)
        if differ:
            self._abort([each for each in messages if isinstance(each, Prepared)])
            raise errors.ChangedRecords(f"batch {batch_id}, {'; '.join(differ[:5])}")

    def _number(self, batch_id: int) -> int:
        return self.resume.number if self.resume.batch_id == batch_id else 0

    def _decide(
        self, batch_id: int, transactions: list[Prepared], extra: dict[str, Any]
    ) -> Manifest:
        manifest = Manifest(
            batch_id=batch_id,
            number=self._number(batch_id),
            epoch=self.resume.epoch,
            prepared=transactions,
            sinks=[sink.name for sink in self._every],
            ledgers=self.resume.ledgers,
            extra=extra,
        )
        try:
            self._job.manifests.create(manifest)
        except FileExistsError:
            known = self._job.manifests.read(batch_id, manifest.number)
            decided = set(known.prepared) if known else set()
            if decided != set(transactions):
                self._abort([each for each in transactions if each not in decided])
                raise errors.SecondDriver(
                    f"batch {batch_id} has a manifest of other transactions"
                ) from None
        return manifest

    def _commit_all(self, manifest: Manifest) -> None:
        if self._job.manifests.is_done(manifest):
            return
        deadline = self._deadline()
        answers = self._of_each_sink(
            manifest.prepared,
            lambda sink, mine: sink.commit(mine, deadline, recovering=False),
        )
        answered = {each: outcome for answer in answers for each, outcome in answer.items()}
        gone = [each for each, outcome in answered.items() if outcome is not Outcome.COMMITTED]
        if gone:
            raise errors.CommitIncomplete(
                f"batch {manifest.batch_id}: {len(gone)} of {len(answered)} transactions are no "
                f"longer open, first {gone[0].handle} of sink {gone[0].sink}; a commit later than "
                "the transaction timeout does that, and so does another user of the same "
                "transactional ids"
            )

    def _abort(self, transactions: list[Prepared]) -> None:
        deadline = Deadline.after(ABORT_SECONDS)
        try:
            self._of_each_sink(transactions, lambda sink, mine: sink.abort(mine, deadline))
        except Exception as error:
            log.warning("%d transactions are left to recovery: %s", len(transactions), error)

    def _of_each_sink(
        self,
        transactions: list[Prepared],
        do: Callable[[Participant, Sequence[Prepared]], T],
    ) -> list[T]:
        """What `do` answers for the transactions of each sink, the sinks beside each other. All
        of them are done before the first error is raised."""
        parts = {
            name: [each for each in transactions if each.sink == name]
            for name in sorted({each.sink for each in transactions})
        }

        def end(name: str, mine: Sequence[Prepared]) -> T:
            steps.reached(steps.Step.ENDING)
            answer = do(self._job.sinks[name], mine)
            steps.reached(steps.Step.ENDED)
            return answer

        if len(parts) <= 1:
            return [end(name, mine) for name, mine in parts.items()]
        with ThreadPoolExecutor(len(parts), "end") as pool:
            running = [pool.submit(partial(end, name, mine)) for name, mine in parts.items()]
        return [each.result() for each in running]

    def _sweep(self, *, at_once: bool) -> None:
        place = os.getpid(), self._directory
        last = _swept.get(place, float("-inf"))
        if not at_once and time.monotonic() - last < SWEEP_SECONDS:
            return
        _swept[place] = time.monotonic()
        self.hold()
        deadline = Deadline.after(ABORT_SECONDS)
        for sink in self._job.sinks.values():
            try:
                sink.sweep(self.resume.epoch, deadline)
            except Exception as error:
                log.warning("leftovers of failed tasks stay open until the next sweep: %s", error)

    def _deadline(self) -> Deadline:
        return Deadline.after(max(sink.patience for sink in self._job.sinks.values()))

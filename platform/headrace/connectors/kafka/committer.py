"""The driver's side of the protocol: recover once, then commit or abort batch after batch."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from headrace.connectors.kafka import ending, errors, producers, recovery, steps
from headrace.connectors.kafka.answers import Answer
from headrace.connectors.kafka.coordinator import coordinator_for
from headrace.connectors.kafka.ending import Deadline
from headrace.connectors.kafka.manifest import Manifest, ManifestStore
from headrace.connectors.kafka.messages import PreparedTransaction, Recovery, Resume
from headrace.connectors.kafka.ownership import OwnerStore
from headrace.connectors.kafka.settings import SinkSettings, check_together
from headrace.connectors.kafka.writer import Prepared

log = logging.getLogger(__name__)

#: Beyond the transaction timeout nothing is left to commit, but the answer still matters.
SPARE_SECONDS = 60.0
ABORT_SECONDS = 10.0
#: Leftovers of failed tasks are looked for at most this often.
SWEEP_SECONDS = 5.0

#: When this process last looked for leftovers, by checkpoint directory.
_swept: dict[tuple[int, Path], float] = {}


class Committer:
    """Commits the batches of one job, all its sinks together.

    A driver calls `recover` once before the query starts and hands `Recovery.resume` to its
    tasks. `commit` and `abort` may be called in another process: construct a Committer there
    from the same sinks, directory and `resume`. Connections are kept per process.

    `checkpoint_dir` must be on a file system that all drivers of the job share and that can
    create files exclusively. Sinks without exactly-once may be among `sinks`; they need no
    commit.
    """

    def __init__(
        self,
        sinks: Iterable[SinkSettings],
        checkpoint_dir: str | Path,
        resume: Resume | None = None,
    ) -> None:
        self._every = list(sinks)
        check_together(self._every)
        self._directory = Path(checkpoint_dir)
        self._job = recovery.Job(
            {sink.name: sink for sink in self._every if sink.exactly_once},
            ManifestStore(self._directory),
            OwnerStore(self._directory),
        )
        self.resume = resume or Resume()

    def recover(self, completed: int | None = None) -> Recovery:
        """Take the job over and finish its last batch: the steps of `recovery`.

        `completed` is the newest batch in the engine's own commit log, if there is one: the
        engine never runs it again, so what became of its transactions is not asked.
        Raises `InvalidSettings`, `ClusterUnreachable`, `CommitIncomplete`, `CommitRefused`,
        `OutcomeUnknown`, `MarkersBlocked`.
        """
        for sink in self._every:
            producers.check_options(sink)
        found = Recovery()
        if self._job.sinks:
            found = recovery.recover(self._job, completed, self._deadline())
        self.resume = found.resume
        return found

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
        prepared: Iterable[Prepared | None],
        extra: dict[str, Any] | None = None,
    ) -> None:
        """Make the batch visible: all of its transactions, or what is left of them after the
        next recovery. Calling it again with the same transactions finishes what is left.

        1. Stop if another driver owns the job.
        2. Create the manifest: from here on the batch is to be committed.
        3. End all transactions, in parallel.
        4. Now and then, abort what failed or straggling tasks left open.

        Raises `SecondDriver`, `CommitIncomplete`, `CommitRefused`, `ChangedRecords`,
        `CheckpointReplaced`.
        """
        if not self._job.sinks:
            return
        if not self.resume.epoch:
            raise RuntimeError("recover, or be given what recover answered, before a commit")
        transactions = [each for each in prepared if isinstance(each, PreparedTransaction)]
        # Step 1.
        self._check_owner(batch_id, transactions)
        if self.resume.batch_id == batch_id:
            self._check_same_partitions(batch_id, transactions)
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
        self._sweep()

    def abort(self, batch_id: int, prepared: Iterable[Prepared | None]) -> None:
        """Make sure a failed batch stays invisible. What cannot be reached now is aborted at the
        next recovery. A batch that has its manifest is past aborting and left alone."""
        if self._job.manifests.read(batch_id, self._number(batch_id)) is None:
            self._abort([each for each in prepared if isinstance(each, PreparedTransaction)])

    def _check_owner(self, batch_id: int, transactions: list[PreparedTransaction]) -> None:
        try:
            self._job.owners.check(self.resume.epoch)
            newest = self._job.manifests.newest_name()
            if newest is not None and newest[0] > batch_id:
                raise errors.CheckpointReplaced(f"batch {batch_id}, manifest {newest[0]}")
        except errors.KafkaSinkError:
            self.abort(batch_id, transactions)
            raise

    def _check_same_partitions(
        self, batch_id: int, transactions: list[PreparedTransaction]
    ) -> None:
        """The batch is run again: exactly what was missing of it must have been written now.
        Sinks that the job did not have the first time take all of it."""
        written = {each.key for each in transactions if each.sink in self.resume.sinks}
        if written != self.resume.missing.keys():
            self._abort(transactions)
            differ = sorted(written ^ self.resume.missing.keys())
            raise errors.ChangedRecords(f"batch {batch_id}, sink and partition: {differ[:5]}")

    def _number(self, batch_id: int) -> int:
        return self.resume.number if self.resume.batch_id == batch_id else 0

    def _decide(
        self, batch_id: int, transactions: list[PreparedTransaction], extra: dict[str, Any]
    ) -> Manifest:
        manifest = Manifest(
            batch_id=batch_id,
            number=self._number(batch_id),
            epoch=self.resume.epoch,
            prepared=transactions,
            sinks=[sink.name for sink in self._every],
            marker_topics=self.resume.marker_topics,
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
        answered = self._end(manifest.prepared, self._deadline(), commit=True)
        gone = [each for each, answer in answered.items() if answer is Answer.GONE]
        if gone:
            raise errors.CommitIncomplete(
                f"batch {manifest.batch_id}: {len(gone)} of {len(answered)} transactions are no "
                f"longer open, first {gone[0]}; a commit later than the transaction timeout does "
                "that, and so does another user of the same transactional ids"
            )

    def _abort(self, transactions: list[PreparedTransaction]) -> None:
        try:
            self._end(transactions, Deadline.after(ABORT_SECONDS), commit=False)
        except errors.KafkaSinkError as error:
            log.warning("%d transactions are left to recovery: %s", len(transactions), error)

    def _end(
        self, transactions: list[PreparedTransaction], deadline: Deadline, *, commit: bool
    ) -> dict[str, Answer]:
        """End all of them, the sinks beside each other. An answer per transactional id."""
        parts = {
            name: [each for each in transactions if each.sink == name]
            for name in sorted({each.sink for each in transactions})
        }
        work = [
            partial(
                ending.end_all,
                coordinator_for(self._job.sinks[name]),
                part,
                deadline,
                commit=commit,
            )
            for name, part in parts.items()
        ]
        answered: dict[str, Answer] = {}
        if len(work) == 1:
            answered = work[0]()
        elif work:
            with ThreadPoolExecutor(len(work), "end") as pool:
                for each in [pool.submit(one) for one in work]:
                    answered.update(each.result())
        return answered

    def _sweep(self) -> None:
        place = os.getpid(), self._directory
        if time.monotonic() - _swept.get(place, float("-inf")) < SWEEP_SECONDS:
            return
        _swept[place] = time.monotonic()
        try:
            recovery.sweep(self._job, self.resume.epoch, Deadline.after(ABORT_SECONDS))
        except errors.KafkaSinkError as error:
            log.warning("leftovers of failed tasks stay open until the next sweep: %s", error)

    def _deadline(self) -> Deadline:
        longest = max(sink.transaction_timeout_ms for sink in self._job.sinks.values())
        return Deadline.after(longest / 1000 + SPARE_SECONDS)

"""What a starting driver does before its first batch, so that the last one ends exactly once.

1. Read the newest manifest, and have each of its transactions committed once more.
2. Abort everything else that earlier drivers left, and shut their tasks out.
3. Ask again about the transactions that step 1 found gone.
4. Answer which partitions of that batch are committed and which are certainly not: when Spark
   runs it again, the former are read and not written, the latter are written.
5. Where neither step 1 nor step 3 gives a certain answer, stop.

Step 2 comes before step 3 because what is open may hide the answers (Kafka's markers).

The assumption, which is Spark's own: a batch that is run again has the same records in the same
partitions. It matters only when a batch was committed in part; then counts are compared, and a
difference stops the job (`ChangedRecords`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from headrace.connectors.twophase import errors, outcome, steps
from headrace.connectors.twophase.deadline import Deadline
from headrace.connectors.twophase.manifest import Manifest, ManifestStore
from headrace.connectors.twophase.messages import Prepared, Recovery
from headrace.connectors.twophase.ownership import OwnerStore
from headrace.connectors.twophase.participant import Outcome, Participant

log = logging.getLogger(__name__)

#: For what was left under a former prefix; it keeps nobody from starting.
FORMER_SECONDS = 10.0

Answered = dict[Prepared, Outcome]


@dataclass(frozen=True, slots=True)
class Job:
    """The transactional sinks of a job by name, and what is on disk about its batches."""

    sinks: Mapping[str, Participant]
    manifests: ManifestStore
    owners: OwnerStore


def recover(job: Job, completed: int | None, deadline: Deadline) -> Recovery:
    """Take the job over and finish its last batch; contract: `Committer.recover`."""
    ledgers = {sink.name: sink.check() for sink in job.sinks.values()}
    for sink in job.sinks.values():
        sink.hold(job.owners.identity(), starting=True)
    newest = max(sink.newest_epoch(deadline) for sink in job.sinks.values())
    epoch = job.owners.claim(newest, {sink.name: sink.root for sink in job.sinks.values()})
    steps.reached(steps.Step.CLAIMED)
    manifests = job.manifests.newest_batch()
    pending = [each for each in manifests if not is_settled(job, each, completed)]

    # Step 1.
    answered = _recommit(job, pending, deadline)
    steps.reached(steps.Step.RECOMMITTED)
    # Step 2.
    aborted = _fence_earlier(job, epoch, deadline)
    steps.reached(steps.Step.FENCED)
    # Step 3.
    by_answer = {each for each, answer in answered.items() if answer is Outcome.COMMITTED}
    later = _ask_again(job, pending, answered, ledgers)
    # Step 4.
    settled = {p for each in manifests if each not in pending for p in each.prepared}
    resume = outcome.resume_after(manifests, settled | by_answer | later, epoch, ledgers)
    found = Recovery(len(by_answer), aborted, len(resume.missing), resume)
    steps.reached(steps.Step.RECOVERED)
    log.info("recovered as epoch %d: %s", epoch, found.counts())
    return found


def is_settled(job: Job, manifest: Manifest, completed: int | None) -> bool:
    """Is every transaction of it known to be committed, or never asked about again?"""
    if completed is not None and manifest.batch_id <= completed:
        return True
    return job.manifests.is_done(manifest)


def _recommit(job: Job, manifests: list[Manifest], deadline: Deadline) -> Answered:
    found: Answered = {}
    for manifest in manifests:
        for name in sorted({each.sink for each in manifest.prepared}):
            if name not in job.sinks:
                raise errors.OutcomeUnknown(
                    f"batch {manifest.batch_id} wrote to sink {name!r}, which the job no longer "
                    "has with exactly-once: start it once more with that sink"
                )
            mine = [each for each in manifest.prepared if each.sink == name]
            steps.reached(steps.Step.ENDING)
            found.update(job.sinks[name].commit(mine, deadline, recovering=True))
            steps.reached(steps.Step.ENDED)
    return found


def _fence_earlier(job: Job, epoch: int, deadline: Deadline) -> int:
    """Shut out the tasks of every earlier driver; how many transactions that aborted."""
    before = job.owners.newest_recovered()
    aborted = sum(sink.fence(epoch, before, deadline) for sink in job.sinks.values())
    aborted += _fence_former(job, epoch, before)
    job.owners.mark_recovered(epoch)
    return aborted


def _fence_former(job: Job, epoch: int, fenced_before: int) -> int:
    """As `_fence_earlier` under the roots that sinks had before their prefix was changed, unless
    another job uses them by now. What cannot be asked there soon is left alone."""
    former = job.owners.roots_before(epoch)
    for name in sorted(former[-1].keys() - job.sinks.keys() if former else ()):
        log.warning(
            "the job has no exactly-once sink %s any more; what its tasks may have left open "
            "under %s-* is not aborted here",
            name,
            former[-1][name],
        )
    current = {sink.root for sink in job.sinks.values()}
    past = {(name, root) for roots in former for name, root in roots.items()}
    aborted = 0
    for name, root in sorted(past):
        if name not in job.sinks or root in current:
            continue
        sink = job.sinks[name].under(root)
        try:
            sink.hold(job.owners.identity(), starting=False)
            aborted += sink.fence(epoch, fenced_before, Deadline.after(FORMER_SECONDS))
            sink.release(job.owners.identity())
        except errors.SinkError as error:
            log.warning("what may be open under %s-* is left alone: %s", root, error)
    return aborted


def _ask_again(
    job: Job, manifests: list[Manifest], answered: Answered, ledgers: dict[str, str]
) -> set[Prepared]:
    """Those that were committed, of the transactions that are gone."""
    committed: set[Prepared] = set()
    for manifest in manifests:
        gone = [each for each in manifest.prepared if answered[each] is Outcome.GONE]
        for name in {each.sink for each in gone}:
            mine = [each for each in gone if each.sink == name]
            kept = manifest.ledgers.get(name) == ledgers[name]
            batch = [p for every in manifests for p in every.prepared if p.sink == name]
            committed |= job.sinks[name].settle(mine, batch, ledger_kept=kept)
    return committed

"""What a starting driver does before its first batch, so that the last one ends exactly once.

1. Read the newest manifest, and ask Kafka to commit each of its transactions once more.
2. Fence everything else under the sinks' ids, aborting what is open.
3. Ask the batch markers about the transactions that Kafka no longer knows by id and epoch.
4. Answer which partitions of that batch are committed and which are certainly not: when Spark
   runs it again, the former are read and not written, the latter are written.
5. Where neither step 1 nor step 3 gives a certain answer, stop.

Step 2 comes before step 3 because an open transaction hides the markers behind it.

The assumption, which is Spark's own: a batch that is run again has the same records in the same
partitions. It matters only when a batch was committed in part; then counts are compared, and a
difference stops the job (`ChangedRecords`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from headrace.connectors.kafka import ending, errors, ids, markers, outcome, steps
from headrace.connectors.kafka.answers import Answer
from headrace.connectors.kafka.coordinator import coordinator_for
from headrace.connectors.kafka.ending import Deadline
from headrace.connectors.kafka.manifest import Manifest, ManifestStore
from headrace.connectors.kafka.messages import PreparedTransaction, Recovery
from headrace.connectors.kafka.ownership import OwnerStore
from headrace.connectors.kafka.settings import SinkSettings

log = logging.getLogger(__name__)

#: Brokers and drivers often start together.
PATIENCE_SECONDS = 30.0
PAUSE_SECONDS = 0.5

T = TypeVar("T")
Answered = dict[PreparedTransaction, Answer]


@dataclass(frozen=True, slots=True)
class Job:
    """The exactly-once sinks of a job by name, and what is on disk about its batches."""

    sinks: Mapping[str, SinkSettings]
    manifests: ManifestStore
    owners: OwnerStore


def recover(job: Job, completed: int | None, deadline: Deadline) -> Recovery:
    """Take the job over and finish its last batch; contract: `Committer.recover`."""
    topics = {name: _check_cluster(sink) for name, sink in job.sinks.items()}
    epoch = job.owners.claim(above=_newest_epoch_at_brokers(job, deadline))
    steps.reached(steps.Step.CLAIMED)
    manifests = job.manifests.newest_batch()
    pending = [each for each in manifests if not _is_settled(job, each, completed)]

    # Step 1.
    answered = _recommit(job, pending, deadline)
    steps.reached(steps.Step.RECOMMITTED)
    # Step 2.
    aborted = _fence_earlier(job, epoch, deadline)
    steps.reached(steps.Step.FENCED)
    # Step 3.
    by_answer = {each for each, answer in answered.items() if answer is Answer.DONE}
    by_marker = _ask_markers(job, pending, answered, topics)
    # Step 4.
    settled = {p for each in manifests if each not in pending for p in each.prepared}
    resume = outcome.resume_after(manifests, settled | by_answer | by_marker, epoch, topics)
    found = Recovery(len(by_answer), aborted, len(resume.missing), resume)
    steps.reached(steps.Step.RECOVERED)
    log.info("recovered as epoch %d: %s", epoch, found.counts())
    return found


def sweep(job: Job, epoch: int, deadline: Deadline) -> int:
    """Abort what is open under the sinks' ids, also of this epoch: to be called between batches,
    when nothing should be. How many transactions that were."""
    aborted = 0
    for sink in job.sinks.values():
        coordinator = coordinator_for(sink)
        opened = [each for each in ending.list_all(coordinator, sink.id_root, deadline) if each[1]]
        found = outcome.leftovers(opened, sink.id_root, fenced_before=epoch + 1, below=epoch + 1)
        ending.fence_all(coordinator, found, sink.transaction_timeout_ms, deadline)
        aborted += len(found)
    return aborted


def _check_cluster(sink: SinkSettings) -> str:
    """Refuse now what the brokers would refuse later; the id of the marker topic."""
    coordinator = coordinator_for(sink)
    longest = _patiently(coordinator.longest_timeout_ms)
    if longest is not None and sink.transaction_timeout_ms > longest:
        raise errors.InvalidSettings(
            f"sink {sink.name}: transaction timeout {sink.transaction_timeout_ms} ms is above the "
            f"brokers' transaction.max.timeout.ms, {longest} ms; lower it or raise theirs"
        )
    return coordinator.ensure_marker_topic(sink.marker_topic)


def _patiently(ask: Callable[[], T]) -> T:
    deadline = Deadline.after(PATIENCE_SECONDS)
    while True:
        try:
            return ask()
        except errors.ClusterUnreachable:
            if deadline.passed():
                raise
            time.sleep(PAUSE_SECONDS)


def _newest_epoch_at_brokers(job: Job, deadline: Deadline) -> int:
    """Newest epoch of any transactional id: a job that starts anew, without its old checkpoint,
    must still be newer than the producers it left."""
    found = [0]
    for sink in job.sinks.values():
        listed = ending.list_all(coordinator_for(sink), sink.id_root, deadline)
        found += [parsed.epoch for each, _ in listed if (parsed := ids.parse(sink.id_root, each))]
    return max(found)


def _is_settled(job: Job, manifest: Manifest, completed: int | None) -> bool:
    if completed is not None and manifest.batch_id <= completed:
        return True
    return job.manifests.is_done(manifest)


def _recommit(job: Job, manifests: list[Manifest], deadline: Deadline) -> Answered:
    found: Answered = {}
    for manifest in manifests:
        for name in {each.sink for each in manifest.prepared}:
            if name not in job.sinks:
                raise errors.OutcomeUnknown(
                    f"batch {manifest.batch_id} wrote to sink {name!r}, which the job no longer "
                    "has with exactly-once: start it once more with that sink"
                )
            mine = [each for each in manifest.prepared if each.sink == name]
            coordinator = coordinator_for(job.sinks[name])
            answered = ending.end_all(coordinator, mine, deadline, commit=True)
            found.update({each: answered[each.transactional_id] for each in mine})
    return found


def _fence_earlier(job: Job, epoch: int, deadline: Deadline) -> int:
    """Shut out the producers of every earlier driver; how many transactions that aborted."""
    aborted = 0
    before = job.owners.newest_recovered()
    for sink in job.sinks.values():
        coordinator = coordinator_for(sink)
        listed = ending.list_all(coordinator, sink.id_root, deadline)
        found = outcome.leftovers(listed, sink.id_root, fenced_before=before, below=epoch)
        ending.fence_all(coordinator, found, sink.transaction_timeout_ms, deadline)
        aborted += sum(is_open for each, is_open in listed if each in found)
    job.owners.mark_recovered(epoch)
    return aborted


def _ask_markers(
    job: Job, manifests: list[Manifest], answered: Answered, topics: dict[str, str]
) -> set[PreparedTransaction]:
    """Those that were committed, of the transactions that are gone."""
    committed: set[PreparedTransaction] = set()
    for manifest in manifests:
        gone = [each for each in manifest.prepared if answered[each] is Answer.GONE]
        for name in {each.sink for each in gone}:
            found = markers.read(job.sinks[name])
            kept = manifest.marker_topics.get(name) == topics[name]
            committed.update(
                each
                for each in gone
                if each.sink == name
                and outcome.settle(each, found.get(each.key), marker_topic_kept=kept)
            )
    return committed

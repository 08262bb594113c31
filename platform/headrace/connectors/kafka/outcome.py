"""What recovery makes of Kafka's answers, without I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from headrace.connectors.kafka import errors, ids
from headrace.connectors.kafka.markers import Marker
from headrace.connectors.kafka.messages import PreparedTransaction


def settle(
    prepared: PreparedTransaction,
    marker: Marker | None,
    batch: Collection[str],
    *,
    marker_topic_kept: bool,
) -> bool:
    """Was a transaction committed that Kafka no longer knows by its id and epoch?

    Its own marker proves that it was. Any other answer proves that it was not, as long as the
    topic is the one the marker would have been written to: only a later transaction of the same
    partition replaces a marker, and of this job there is none without a newer manifest. But a job
    that was started with another checkpoint, or none, replaces it too: a marker of a later epoch
    than the transaction's that is not of `batch`, the ids in the batch's manifests, hides the
    answer.
    """
    if marker is not None and marker.is_of(prepared):
        return True
    if marker is not None and _is_later(marker, prepared) and marker.transactional_id not in batch:
        raise errors.OutcomeUnknown(
            f"{prepared.transactional_id}, sink {prepared.sink}, partition {prepared.partition}, "
            f"{prepared.count} records; its marker was replaced by {marker.transactional_id} of a "
            "job with another checkpoint and the same prefix"
        )
    if not marker_topic_kept:
        raise errors.OutcomeUnknown(
            f"{prepared.transactional_id}, sink {prepared.sink}, partition {prepared.partition}, "
            f"{prepared.count} records; the topic of the batch markers was made anew since"
        )
    return False


def _is_later(marker: Marker, prepared: PreparedTransaction) -> bool:
    return ids.epoch(marker.transactional_id) > ids.epoch(prepared.transactional_id)


def leftovers(
    listed: Iterable[tuple[str, bool]], root: str, *, fenced_before: int, below: int
) -> list[str]:
    """Of (id, is open), those to fence: open ones, and all that no recovery has fenced yet.

    The recovery of epoch `fenced_before` fenced everything older than itself; ids of `below` and
    later belong to the driver that asks, or to a newer one.
    """
    found = []
    for each, is_open in listed:
        parsed = ids.parse(root, each)
        if parsed is None or parsed.epoch >= below:
            continue
        if is_open or parsed.epoch >= fenced_before:
            found.append(each)
    return found

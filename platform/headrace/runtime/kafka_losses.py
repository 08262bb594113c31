"""Records that Kafka no longer holds and that a source has not read.

Spark notices some of it, in a batch that wants these records. It does not notice a topic of a
pattern that was deleted, nor one that was deleted, made again and has grown past the old offset.
So where a source stands is compared with what the brokers hold: at every restore, when a query
has failed, and every few seconds for the topics' ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headrace.runtime.errors import JobFailed
from headrace.runtime.kafka_brokers import Offsets, each
from headrace.wire.failures import Cause


class DataLost(JobFailed):
    """Records are gone that the job has not read; another attempt would find the same."""

    def __init__(self, source: str, losses: Iterable[Loss]) -> None:
        said = "; ".join(loss.said for loss in losses)
        super().__init__(
            f"Source {source} has lost records that it had not read: {said}. The job has stopped, "
            "what it has committed stands. To go on without them set the source's property "
            "failOnDataLoss to false: it then reads from the earliest offset there is. To "
            "have them, produce them again, or start a new job where its input is whole",
            cause=Cause.IN_DOUBT,
        )


@dataclass(frozen=True)
class Loss:
    """Offsets from `start` on were not read; the partition goes on at `end`, or is gone (None)."""

    topic: str
    partition: str
    start: int
    end: int | None
    #: The topic is another one than the source has read.
    replaced: bool = False
    #: The log ends at `end` now; a batch was planned up to here, whose records are gone.
    cut_from: int | None = None
    #: A broker that has just come up, or a new leader, may say the same for a moment.
    doubtful: bool = field(default=False, compare=False)

    @property
    def count(self) -> int:
        """How many at the most; 0 where nobody can know."""
        if self.end is None or self.replaced:
            return 0
        return (self.cut_from or self.end) - self.start

    @property
    def said(self) -> str:
        where = f"{self.topic}-{self.partition}"
        if self.end is None:
            return f"{where} was deleted, what stood from offset {self.start} on is unknown"
        if self.cut_from is not None:
            return (
                f"{where} was cut off at offset {self.end}, as when a broker that lags behind "
                f"becomes its leader; offsets up to {self.cut_from - 1}, which a batch was to "
                "read, are gone"
            )
        if self.replaced:
            return (
                f"{where} was deleted and made again, or cut off; what stood from offset "
                f"{self.start} on is unknown, it now begins at {self.end}"
            )
        return (
            f"{where} offsets {self.start} to {self.end - 1} were deleted, by retention or by "
            f"hand (up to {self.count} records); it now begins at {self.end}"
        )


def find(
    positions: Offsets,
    earliest: Offsets,
    latest: Offsets,
    known_ids: Mapping[str, str],
    ids: Mapping[str, str],
) -> list[Loss]:
    """`positions` is where the source reads on; `latest` includes open transactions."""
    losses = []
    for topic, partition, position in each(positions):
        first = earliest.get(topic, {}).get(partition)
        replaced = topic in known_ids and topic in ids and known_ids[topic] != ids[topic]
        if first is None or topic not in ids:
            losses.append(Loss(topic, partition, position, None, doubtful=not replaced))
        elif replaced or position > latest.get(topic, {}).get(partition, position):
            loss = Loss(topic, partition, position, first, replaced=True, doubtful=not replaced)
            losses.append(loss)
        elif position < first:
            losses.append(Loss(topic, partition, position, first))
    return losses


def cut(planned: Offsets, latest: Offsets, found: Iterable[Loss]) -> list[Loss]:
    """What of a planned batch lies behind the end of its log, apart from what is `found`."""
    known = {(loss.topic, loss.partition) for loss in found}
    losses = []
    for topic, partition, planned_end in each(planned):
        end = latest.get(topic, {}).get(partition, planned_end)
        if end < planned_end and (topic, partition) not in known:
            losses.append(Loss(topic, partition, end, end, cut_from=planned_end, doubtful=True))
    return losses


def moved(positions: Offsets, losses: Iterable[Loss]) -> Offsets:
    """The positions from which to go on without what is lost."""
    result = {topic: dict(partitions) for topic, partitions in positions.items()}
    for loss in losses:
        here = result.setdefault(loss.topic, {})
        if loss.end is None:
            here.pop(loss.partition, None)
        elif loss.cut_from is not None:
            here[loss.partition] = min(loss.end, here.get(loss.partition, loss.end))
        elif loss.replaced:
            here[loss.partition] = loss.end
        else:
            here[loss.partition] = max(loss.end, here.get(loss.partition, 0))
    return {topic: partitions for topic, partitions in result.items() if partitions}

"""A Kafka source of a program that has changed since its job's first start.

Topics may come and go. What would have the source read on at a wrong place is refused.
"""

from __future__ import annotations

from headrace.datastream.connectors.kafka import KafkaSource
from headrace.runtime import kafka_topics
from headrace.runtime.errors import JobFailed
from headrace.runtime.kafka_brokers import Offsets, Partitions, each
from headrace.runtime.kafka_kept import Kept
from headrace.wire.failures import Cause


def check(source: KafkaSource, kept: Kept) -> None:
    """Raises JobFailed, not to be tried again, when the source cannot go on from `kept`."""
    problem = _problem(source, kept)
    if problem:
        raise JobFailed(
            f"Source {source.described} does not fit the job's checkpoint: {problem}. Nothing was "
            "started and the checkpoint is as it was. Undo the change, or submit the program as a "
            "new job",
            cause=Cause.CHECKPOINT,
        )


def left(source: KafkaSource, positions: Offsets) -> set[tuple[str, str]]:
    """(topic, partition) of what was read and is no longer named."""
    return {(t, p) for t, p, _ in each(positions) if not kafka_topics.names(source, t, int(p))}


def newly_named(
    source: KafkaSource, kept: Kept, positions: Offsets, present: Partitions
) -> Partitions:
    """What of `present` the program names only now: it is read from its earliest record, and
    what was deleted of it is no loss."""
    if source.topic_pattern is not None and kept.named == kafka_topics.named(source):
        return {}
    single = bool(source.partitions) or any(n.startswith("partition ") for n in kept.named)
    new = {
        topic: [n for n in numbers if str(n) not in positions.get(topic, {})]
        for topic, numbers in present.items()
        if single or topic not in positions
    }
    return {topic: numbers for topic, numbers in new.items() if numbers}


def _problem(source: KafkaSource, kept: Kept) -> str | None:
    if source.stop is None and kept.ends is not None:
        return (
            "it had an end (set_bounded or set_unbounded), which the program has taken away; "
            "records behind the end may have been passed over already"
        )
    if source.stop is not None and kept.ends is None:
        return (
            "the program now gives it an end (set_bounded or set_unbounded); ends are worked out "
            "at a job's first start only"
        )
    now = kafka_topics.named(source)
    if kept.ends is not None and kept.named and kept.named != now:
        return (
            f"its ends are those of {', '.join(kept.named)}, and the program now reads "
            f"{', '.join(now)}"
        )
    return None

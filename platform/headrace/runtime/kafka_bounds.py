"""An offsets initializer, made offsets: where each partition of a source starts or ends."""

from __future__ import annotations

import logging

from headrace.datastream.connectors.kafka import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaSource,
)
from headrace.datastream.connectors.kafka_offsets import Mode
from headrace.runtime.errors import JobFailed, UnknownTopic
from headrace.runtime.kafka_brokers import Brokers, Offsets, Partitions, each

log = logging.getLogger(__name__)


def start(source: KafkaSource, partitions: Partitions, brokers: Brokers) -> Offsets:
    """Raises JobFailed and UnknownTopic, not to be tried again, where the program has to say
    more, and JobFailed when the brokers do not answer."""
    return _complete(_resolve(source.start, "start", source, partitions, brokers), partitions)


def end(source: KafkaSource, partitions: Partitions, brokers: Brokers) -> Offsets | None:
    """None: nowhere. Raises as `start` does."""
    if source.stop is None:
        return None
    return _complete(_resolve(source.stop, "end", source, partitions, brokers), partitions)


def _complete(found: Offsets, partitions: Partitions) -> Offsets:
    silent = missing(partitions, found)
    if any(True for _ in each(silent)):
        raise JobFailed(
            f"Kafka does not say where {_listed(silent)} begins or ends, perhaps because it has no "
            "leader just now; nothing was read"
        )
    return found


def _resolve(
    where: KafkaOffsetsInitializer,
    what: str,
    source: KafkaSource,
    partitions: Partitions,
    brokers: Brokers,
) -> Offsets:
    if where.mode is Mode.EARLIEST:
        return brokers.earliest(partitions)
    if where.mode is Mode.LATEST:
        return brokers.readable(partitions)
    if where.mode is Mode.TIMESTAMP:
        assert where.timestamp_ms is not None
        found = brokers.at(where.timestamp_ms, partitions)
        return over(brokers.readable(partitions), found)
    return _given(where, what, source, partitions, brokers)


def _given(
    where: KafkaOffsetsInitializer,
    what: str,
    source: KafkaSource,
    partitions: Partitions,
    brokers: Brokers,
) -> Offsets:
    """1. what is named, 2. what the group has committed, 3. what the reset strategy says."""
    named: Offsets = {}
    for tp, offset in where.partition_offsets:
        if tp.partition not in partitions.get(tp.topic, []):
            raise UnknownTopic(
                f"offsets() names {tp.topic}-{tp.partition}, which does not exist at "
                f"{source.bootstrap_servers}; correct it in the job"
            )
        named.setdefault(tp.topic, {})[str(tp.partition)] = offset
    committed: Offsets = {}
    if source.group_id and any(True for _ in each(missing(partitions, named))):
        committed = brokers.committed(source.group_id, partitions)
    found = over(committed, named)
    first, last = brokers.earliest(partitions), brokers.latest(partitions)
    # an end may lie ahead of what there is: it is waited for
    held = _within(found, first, last if what == "start" else None)
    unknown = missing(partitions, held)
    if not any(True for _ in each(unknown)):
        return held
    if where.reset is KafkaOffsetResetStrategy.NONE:
        raise JobFailed(_refusal(what, source, found, unknown, first, last), restartable=False)
    earliest = where.reset is KafkaOffsetResetStrategy.EARLIEST
    instead = first if earliest else brokers.readable(partitions)
    log.info("%s: %s at %s: %s", source.described, what, where.reset.name, _listed(unknown))
    return over(instead, held)


def missing(partitions: Partitions, offsets: Offsets) -> Offsets:
    """Partitions that `offsets` says nothing of, at -2."""
    return {
        topic: {str(n): -2 for n in numbers if str(n) not in offsets.get(topic, {})}
        for topic, numbers in partitions.items()
    }


def over(below: Offsets, above: Offsets) -> Offsets:
    """`below` where `above` says nothing."""
    topics = {**below, **above}
    return {topic: {**below.get(topic, {}), **above.get(topic, {})} for topic in topics}


def _within(offsets: Offsets, first: Offsets, last: Offsets | None) -> Offsets:
    held: Offsets = {}
    for topic, partition, offset in each(offsets):
        lowest = first.get(topic, {}).get(partition, 0)
        highest = offset if last is None else last.get(topic, {}).get(partition, 0)
        if lowest <= offset <= highest or (last is None and offset <= lowest):
            held.setdefault(topic, {})[partition] = offset
    return held


def _refusal(
    what: str,
    source: KafkaSource,
    found: Offsets,
    unknown: Offsets,
    first: Offsets,
    last: Offsets,
) -> str:
    said = []
    for topic, partition, _ in each(unknown):
        offset = found.get(topic, {}).get(partition)
        if offset is None:
            said.append(f"{topic}-{partition}")
        else:
            low = first.get(topic, {}).get(partition, 0)
            high = last.get(topic, {}).get(partition, 0)
            said.append(f"{topic}-{partition} (it has {offset}, Kafka holds {low} to {high})")
    whose = f"group {source.group_id!r} has" if source.group_id else "there is"
    return (
        f"Source {source.described} is to {what} at offsets of its own, but {whose} none that "
        f"counts for {', '.join(said)}, and the reset strategy is NONE; nothing was read. Commit "
        "offsets for the group, or give the initializer KafkaOffsetResetStrategy.EARLIEST or "
        "LATEST"
    )


def _listed(offsets: Offsets) -> str:
    return ", ".join(f"{topic}-{partition}" for topic, partition, _ in each(offsets))

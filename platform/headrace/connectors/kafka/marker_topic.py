"""How the topic of the batch markers is made. All jobs of a cluster share it, and every recovery
that asks it reads it from its beginning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

REPLICAS = 3

#: Only what is no longer written to is compacted, so segments end early: 64 MB, or an hour.
_COMPACTED = {
    "cleanup.policy": "compact",
    "segment.bytes": str(64 * 1024 * 1024),
    "segment.ms": str(60 * 60 * 1000),
    "min.cleanable.dirty.ratio": "0.1",
}


def made_for(brokers: int | None) -> dict[str, Any]:
    """Of kafka-python's `create_topics`. A marker that is lost with one broker's disk would have
    its records written again. `brokers` None: nobody may ask how many there are."""
    options: dict[str, Any] = {"num_partitions": 1, "configs": dict(_COMPACTED)}
    if brokers is not None:
        options["replication_factor"] = min(REPLICAS, brokers)
        if brokers >= REPLICAS:
            options["configs"]["min.insync.replicas"] = "2"
    return options


def concern(topic: str, partitions: Sequence[dict[str, Any]], brokers: int | None) -> str | None:
    """What an operator should know about an existing one (kafka-python's description)."""
    if brokers is None or brokers < 2:
        return None
    if all(len(each["replica_nodes"]) > 1 for each in partitions):
        return None
    return (
        f"topic {topic} has a single replica, and the cluster {brokers} brokers: if that one's "
        "disk is lost together with a driver, records of a batch may be written twice; add replicas"
    )

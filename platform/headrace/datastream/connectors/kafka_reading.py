"""Which of a Kafka source's properties steer the source itself, and what they say.

They have Flink's names, and Spark's for `failOnDataLoss`. What is left is for the Kafka clients.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

log = logging.getLogger(__name__)

GROUP_ID = "group.id"
COMMIT_ON_CHECKPOINT = "commit.offsets.on.checkpoint"
AUTO_COMMIT = "enable.auto.commit"
AUTO_COMMIT_INTERVAL = "auto.commit.interval.ms"
DISCOVERY_INTERVAL = "partition.discovery.interval.ms"
FAIL_ON_DATA_LOSS = "failOnDataLoss"
#: The source sets these itself; Flink overrides them, too.
_OVERRIDDEN = ("auto.offset.reset", "key.deserializer", "value.deserializer")
#: Has no meaning here.
_IGNORED = ("register.consumer.metrics",)
CLIENT_ID_PREFIX = "client.id.prefix"
_DEFAULT_AUTO_COMMIT_MS = 5000


@dataclass(frozen=True)
class Reading:
    """How a source goes about its topics."""

    #: Offsets go to Kafka with each completed checkpoint, where checkpointing is on.
    commit_on_checkpoint: bool = True
    #: Where they do not go with checkpoints, they go each that many ms; None: they do not.
    auto_commit_ms: int | None = None
    #: New partitions, and new topics of a pattern, are read.
    discover: bool = True
    #: Records lost to the source stop the job; else it goes on without them.
    fail_on_data_loss: bool = True


def split(properties: Mapping[str, str]) -> tuple[Reading, dict[str, str]]:
    """What the properties say, and those that are for the clients. Raises ValueError for a value
    that is none, or one that goes with a missing `group.id`."""
    given = dict(properties)
    on_checkpoint = _flag(given, COMMIT_ON_CHECKPOINT)
    auto = _flag(given, AUTO_COMMIT) or False
    interval = _number(given, AUTO_COMMIT_INTERVAL)
    if auto and (interval or _DEFAULT_AUTO_COMMIT_MS) < 1:
        raise ValueError(f"{AUTO_COMMIT_INTERVAL} is {interval}; it is positive")
    discovery = _number(given, DISCOVERY_INTERVAL)
    loss = _flag(given, FAIL_ON_DATA_LOSS)
    prefix = given.pop(CLIENT_ID_PREFIX, None)
    if prefix is not None:
        given.setdefault("client.id", prefix)
    for name in (*_OVERRIDDEN, *_IGNORED):
        if given.pop(name, None) is not None and name in _OVERRIDDEN:
            log.warning("Kafka source: property %s is overridden by the source", name)
    if not given.get(GROUP_ID) and (on_checkpoint or auto):
        wanted = COMMIT_ON_CHECKPOINT if on_checkpoint else AUTO_COMMIT
        raise ValueError(f"{wanted} commits offsets for a group: call set_group_id")
    reading = Reading(
        commit_on_checkpoint=bool(given.get(GROUP_ID)) and on_checkpoint is not False,
        auto_commit_ms=(interval or _DEFAULT_AUTO_COMMIT_MS) if auto else None,
        discover=discovery is None or discovery > 0,
        fail_on_data_loss=loss is not False,
    )
    return reading, given


def _flag(given: dict[str, str], name: str) -> bool | None:
    value = given.pop(name, None)
    if value is None:
        return None
    if value.lower() not in ("true", "false"):
        raise ValueError(f"{name} is {value!r}; it is true or false")
    return value.lower() == "true"


def _number(given: dict[str, str], name: str) -> int | None:
    value = given.pop(name, None)
    if value is None:
        return None
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"{name} is {value!r}; it is a number of milliseconds") from None

"""Whether a job's checkpoints outlive it, by Flink's key. No I/O."""

from __future__ import annotations

from collections.abc import Mapping

KEY = "execution.checkpointing.externalized-checkpoint-retention"
_NEVER_KEPT = "NO_EXTERNALIZED_CHECKPOINTS"
_REMOVED = ("DELETE_ON_CANCELLATION", _NEVER_KEPT)


def removed_when_cancelled(configuration: Mapping[str, str]) -> bool:
    return configuration.get(KEY, "").strip().upper() in _REMOVED


def removed_when_finished(configuration: Mapping[str, str]) -> bool:
    return configuration.get(KEY, "").strip().upper() == _NEVER_KEPT

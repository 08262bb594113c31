"""PyFlink's `pyflink.datastream.externalized_checkpoint_retention`."""

from __future__ import annotations

from enum import Enum


class ExternalizedCheckpointRetention(Enum):
    """What becomes of checkpoints when a job is cancelled. Unless set, the platform keeps them: a
    cancelled job can be started again."""

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2

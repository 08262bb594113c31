"""PyFlink's `pyflink.datastream.externalized_checkpoint_retention`."""

from __future__ import annotations

from enum import Enum


class ExternalizedCheckpointRetention(Enum):
    """What becomes of checkpoints when a job is cancelled. The platform keeps them until the job
    is deleted there."""

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2

"""Whether a job's checkpoints outlive it."""

from __future__ import annotations

import logging
import shutil

from headrace.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from headrace.runtime.context import RunContext
from headrace.wire.checkpointing import RETENTION

log = logging.getLogger(__name__)

_REMOVED_AFTER = {
    ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION: (),
    ExternalizedCheckpointRetention.DELETE_ON_CANCELLATION: ("canceled",),
    ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS: ("canceled", "finished"),
}


def apply(context: RunContext, reason: str) -> bool:
    """The job ended for this reason, and no process of its query is left: remove its checkpoints if
    its configuration says so; whether they are gone."""
    configured = context.configuration.get(RETENTION, "").strip().upper()
    if configured not in ExternalizedCheckpointRetention.__members__:
        return False
    if reason not in _REMOVED_AFTER[ExternalizedCheckpointRetention[configured]]:
        return False
    try:
        shutil.rmtree(context.checkpoint_dir)
    except OSError as error:
        log.warning("the checkpoints at %s are left there: %s", context.checkpoint_dir, error)
        return False
    return True

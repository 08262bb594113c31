"""Settings of checkpoints that cannot be used: told at submission, and before a program's own are
acted upon. What is not checked here, the driver reads before it plans."""

from __future__ import annotations

from collections.abc import Mapping

RETAINED = "execution.checkpointing.num-retained"
RETENTION = "execution.checkpointing.externalized-checkpoint-retention"
#: Flink's, as `ExternalizedCheckpointRetention` has them.
RETENTIONS = (
    "DELETE_ON_CANCELLATION",
    "RETAIN_ON_CANCELLATION",
    "NO_EXTERNALIZED_CHECKPOINTS",
)


def check(configuration: Mapping[str, str]) -> None:
    """Raises ValueError, with the setting and what it may be."""
    retained = configuration.get(RETAINED, "").strip()
    try:
        int(retained or 0)
    except ValueError:
        raise ValueError(f"{RETAINED}: {retained!r} is no whole number") from None
    retention = configuration.get(RETENTION, "").strip().upper()
    if retention and retention not in RETENTIONS:
        known = ", ".join(RETENTIONS)
        raise ValueError(f"{RETENTION}: {retention!r} is not known; it is one of {known}")

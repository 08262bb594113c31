"""Word that something is to be done. `jobs` sends it; who listens is not its business."""

from __future__ import annotations

from django.db import transaction
from django.dispatch import Signal

#: Sent after commit when a job may have a next step. Receivers must not raise: the tick of the
#: JobManager finds the work anyway.
work_waiting = Signal()


def nudge() -> None:
    """Send `work_waiting` when the current transaction is committed, at once without one."""
    transaction.on_commit(lambda: work_waiting.send_robust(sender=None))

"""Names of the points between the steps of the protocol, for whoever wants to be there.

Tests kill or pause the process at such a point; nothing in the product listens.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum


class Step(Enum):
    #: Task: the first record is about to be written.
    BEGUN = "begun"
    #: Task: records and marker are acknowledged.
    PREPARED = "prepared"
    #: Commit: all messages are in, nothing is decided.
    DECIDING = "deciding"
    #: Commit: the manifest is on disk.
    DECIDED = "decided"
    #: Commit or recovery: the transactions of one sink are about to be ended, beside the others'.
    ENDING = "ending"
    #: Commit or recovery: every transaction of one sink has been answered about.
    ENDED = "ended"
    #: Commit: every transaction is committed.
    COMMITTED = "committed"
    #: Commit: the manifest is marked as done.
    DONE = "done"
    #: Commit: the batch's report is left for the driver; Spark has not logged the batch yet.
    REPORTED = "reported"
    #: Recovery: the job belongs to this driver.
    CLAIMED = "claimed"
    #: Recovery: the last batch's transactions were committed once more.
    RECOMMITTED = "recommitted"
    #: Recovery: earlier drivers are shut out, what they had open is aborted.
    FENCED = "fenced"
    #: Recovery: what is committed of the last batch is known.
    RECOVERED = "recovered"


def _nobody(_step: Step) -> None:
    pass


_listener: Callable[[Step], None] = _nobody


def listen(listener: Callable[[Step], None]) -> None:
    """Have `listener` called at each step that this process takes, by the thread that takes it."""
    global _listener
    _listener = listener


def reached(step: Step) -> None:
    _listener(step)

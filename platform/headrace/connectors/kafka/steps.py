"""Names of the points between the steps of the protocol, for whoever wants to be there.

Tests kill the process at such a point; nothing in the product listens.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum


class Step(Enum):
    #: Task: the first record is about to be written.
    BEGUN = "begun"
    #: Task: records and marker are acknowledged.
    PREPARED = "prepared"
    #: Driver: all messages are in, nothing is decided.
    DECIDING = "deciding"
    #: Driver: the manifest is on disk.
    DECIDED = "decided"
    #: Driver: every transaction is committed.
    COMMITTED = "committed"


def _nobody(_step: Step) -> None:
    pass


_listener: Callable[[Step], None] = _nobody


def listen(listener: Callable[[Step], None]) -> None:
    """Have `listener` called at each step that this process takes."""
    global _listener
    _listener = listener


def reached(step: Step) -> None:
    _listener(step)

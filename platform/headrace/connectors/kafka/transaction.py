"""States of one task's transaction, without I/O."""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """Of the transaction of one partition, as its task sees it."""

    #: No record yet: no producer taken, nothing to end.
    EMPTY = "empty"
    #: Records written, not all acknowledged.
    OPEN = "open"
    #: Records and marker acknowledged; the driver decides.
    PREPARED = "prepared"
    #: Ended by the task; none of its records will be visible.
    ABORTED = "aborted"


TRANSITIONS: dict[State, frozenset[State]] = {
    State.EMPTY: frozenset({State.OPEN, State.ABORTED}),
    State.OPEN: frozenset({State.PREPARED, State.ABORTED}),
    State.PREPARED: frozenset({State.ABORTED}),
    State.ABORTED: frozenset({State.ABORTED}),
}


class InvalidStep(RuntimeError):
    """A step that this transaction's state does not allow."""


class TransactionState:
    """Current state; `to` moves it or raises `InvalidStep`."""

    def __init__(self) -> None:
        self.current = State.EMPTY

    def to(self, target: State) -> None:
        if target not in TRANSITIONS[self.current]:
            raise InvalidStep(
                f"a transaction that is {self.current.value} cannot become {target.value}"
            )
        self.current = target

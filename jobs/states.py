"""The states of jobs, attempts and TaskManagers: one table each, and the one function that
changes a state. Job states are Flink's, by name and meaning:

    INITIALIZING  accepted, not seen by a JobManager yet
    CREATED       waits for slots, or its driver is starting
    RUNNING       its query runs
    RESTARTING    an attempt ended; the next one starts after the delay
    RECONCILING   its TaskManager is not heard from; the driver may still run
    FAILING       given up; slots are being freed
    CANCELLING    asked to end; the driver may still run
    SUSPENDED     ended on purpose, to be continued from its checkpoint
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping
from typing import Any, Protocol, Self


class Ends(enum.Enum):
    """How final a state is. SUSPENDED is the only one that ends for now."""

    NOT = "not"
    FOR_NOW = "for now"
    FOR_GOOD = "for good"


class State(enum.StrEnum):
    """A state's name with its label, its colour (a CSS token) and how final it is."""

    label: str
    colour: str
    ends: Ends

    def __new__(cls, name: str, label: str = "", colour: str = "", ends: Ends = Ends.NOT) -> Self:
        member = str.__new__(cls, name)
        member._value_ = name
        member.label, member.colour, member.ends = label, colour, ends
        return member

    @property
    def is_terminal(self) -> bool:
        return self.ends is not Ends.NOT

    @classmethod
    def choices(cls) -> list[tuple[str, str]]:
        return [(member.value, member.label) for member in cls]

    @classmethod
    def live(cls) -> list[str]:
        """Names of the states that are not terminal."""
        return [member.value for member in cls if not member.is_terminal]

    @classmethod
    def terminal(cls) -> list[str]:
        return [member.value for member in cls if member.is_terminal]


class JobState(State):
    INITIALIZING = "INITIALIZING", "Initializing", "info"
    CREATED = "CREATED", "Created", "info"
    RUNNING = "RUNNING", "Running", "running"
    FAILING = "FAILING", "Failing", "bad"
    FAILED = "FAILED", "Failed", "bad", Ends.FOR_GOOD
    CANCELLING = "CANCELLING", "Cancelling", "warn"
    CANCELED = "CANCELED", "Canceled", "idle", Ends.FOR_GOOD
    FINISHED = "FINISHED", "Finished", "ok", Ends.FOR_GOOD
    RESTARTING = "RESTARTING", "Restarting", "warn"
    SUSPENDED = "SUSPENDED", "Suspended", "idle", Ends.FOR_NOW
    RECONCILING = "RECONCILING", "Reconciling", "warn"


class AttemptState(State):
    CREATED = "CREATED", "Created", "info"
    DEPLOYING = "DEPLOYING", "Deploying", "info"
    RUNNING = "RUNNING", "Running", "running"
    FINISHED = "FINISHED", "Finished", "ok", Ends.FOR_GOOD
    CANCELED = "CANCELED", "Canceled", "idle", Ends.FOR_GOOD
    FAILED = "FAILED", "Failed", "bad", Ends.FOR_GOOD
    SUSPENDED = "SUSPENDED", "Suspended", "idle", Ends.FOR_GOOD


class TaskManagerState(State):
    REGISTERED = "REGISTERED", "Registered", "ok"
    LOST = "LOST", "Lost", "bad"
    LEFT = "LEFT", "Left", "idle", Ends.FOR_NOW


class SavepointState(State):
    TRIGGERED = "TRIGGERED", "Triggered", "info"
    IN_PROGRESS = "IN_PROGRESS", "In progress", "info"
    COMPLETED = "COMPLETED", "Completed", "ok"
    FAILED = "FAILED", "Failed", "bad", Ends.FOR_GOOD
    DISPOSING = "DISPOSING", "Being disposed of", "warn"
    DISPOSED = "DISPOSED", "Disposed", "idle", Ends.FOR_GOOD


class UpgradeState(State):
    """Of a job's way from one version to another.

    STOPPING   the version before runs until its last savepoint is complete
    STARTING   the new version is to start from it
    REVERTING  it did not: the version before is to start again from where it stopped
    """

    STOPPING = "STOPPING", "Stopping", "info"
    STARTING = "STARTING", "Starting", "info"
    DONE = "DONE", "Done", "ok", Ends.FOR_GOOD
    REVERTING = "REVERTING", "Going back", "warn"
    REVERTED = "REVERTED", "Went back", "warn", Ends.FOR_GOOD
    FAILED = "FAILED", "Failed", "bad", Ends.FOR_GOOD


class Wanted(State):
    """What the user wants of a job."""

    RUNNING = "running", "Running", "running"
    SUSPENDED = "suspended", "Suspended", "idle", Ends.FOR_NOW
    CANCELED = "canceled", "Canceled", "idle", Ends.FOR_GOOD


class AlertState(State):
    """PENDING: the condition holds, not for long enough yet; nobody is told."""

    PENDING = "pending", "Pending", "warn"
    FIRING = "firing", "Firing", "bad"
    RESOLVED = "resolved", "Resolved", "ok", Ends.FOR_GOOD


class DeliveryState(State):
    """Of a message about an alert."""

    WAITING = "waiting", "Waiting", "info"
    SENT = "sent", "Sent", "ok", Ends.FOR_GOOD
    GIVEN_UP = "given-up", "Given up", "bad", Ends.FOR_GOOD


_J = JobState
_A = AttemptState
_T = TaskManagerState

JOB_TRANSITIONS: Mapping[State, frozenset[State]] = {
    _J.INITIALIZING: frozenset({_J.CREATED, _J.CANCELLING, _J.SUSPENDED}),
    _J.CREATED: frozenset(
        {
            *(_J.RUNNING, _J.RESTARTING, _J.FAILING, _J.CANCELLING, _J.SUSPENDED),
            *(_J.FINISHED, _J.RECONCILING),
        }
    ),
    _J.RUNNING: frozenset(
        {_J.RESTARTING, _J.FAILING, _J.CANCELLING, _J.SUSPENDED, _J.FINISHED, _J.RECONCILING}
    ),
    _J.RESTARTING: frozenset({_J.CREATED, _J.FAILING, _J.CANCELLING, _J.SUSPENDED}),
    _J.RECONCILING: frozenset(
        {
            *(_J.CREATED, _J.RUNNING, _J.RESTARTING, _J.FAILING, _J.CANCELLING),
            *(_J.SUSPENDED, _J.FINISHED),
        }
    ),
    _J.FAILING: frozenset({_J.FAILED}),
    _J.CANCELLING: frozenset({_J.CANCELED}),
    _J.SUSPENDED: frozenset({_J.CREATED, _J.CANCELLING}),
    # Started again from the last checkpoint, by hand only.
    _J.FAILED: frozenset({_J.CREATED}),
    _J.CANCELED: frozenset({_J.CREATED}),
    _J.FINISHED: frozenset(),
}

_ATTEMPT_ENDS = frozenset({_A.FINISHED, _A.CANCELED, _A.FAILED, _A.SUSPENDED})

ATTEMPT_TRANSITIONS: Mapping[State, frozenset[State]] = {
    _A.CREATED: frozenset({_A.DEPLOYING, _A.CANCELED, _A.SUSPENDED, _A.FAILED}),
    _A.DEPLOYING: frozenset({_A.RUNNING}) | _ATTEMPT_ENDS,
    _A.RUNNING: _ATTEMPT_ENDS,
    **{end: frozenset() for end in _ATTEMPT_ENDS},
}

TASKMANAGER_TRANSITIONS: Mapping[State, frozenset[State]] = {
    _T.REGISTERED: frozenset({_T.LOST, _T.LEFT}),
    _T.LOST: frozenset({_T.REGISTERED, _T.LEFT}),
    _T.LEFT: frozenset({_T.REGISTERED, _T.LOST}),
}

ALERT_TRANSITIONS: Mapping[State, frozenset[State]] = {
    AlertState.PENDING: frozenset({AlertState.FIRING}),
    AlertState.FIRING: frozenset({AlertState.RESOLVED}),
    AlertState.RESOLVED: frozenset(),
}

DELIVERY_TRANSITIONS: Mapping[State, frozenset[State]] = {
    DeliveryState.WAITING: frozenset({DeliveryState.SENT, DeliveryState.GIVEN_UP}),
    DeliveryState.SENT: frozenset(),
    DeliveryState.GIVEN_UP: frozenset(),
}


_S = SavepointState

SAVEPOINT_TRANSITIONS: Mapping[State, frozenset[State]] = {
    _S.TRIGGERED: frozenset({_S.IN_PROGRESS, _S.COMPLETED, _S.FAILED}),
    _S.IN_PROGRESS: frozenset({_S.COMPLETED, _S.FAILED}),
    _S.COMPLETED: frozenset({_S.DISPOSING, _S.DISPOSED}),
    _S.DISPOSING: frozenset({_S.DISPOSED, _S.COMPLETED}),
    _S.FAILED: frozenset(),
    _S.DISPOSED: frozenset(),
}

_U = UpgradeState

UPGRADE_TRANSITIONS: Mapping[State, frozenset[State]] = {
    _U.STOPPING: frozenset({_U.STARTING, _U.FAILED}),
    _U.STARTING: frozenset({_U.DONE, _U.REVERTING, _U.FAILED}),
    # DONE: the new version had output that readers see, so it goes on.
    _U.REVERTING: frozenset({_U.REVERTED, _U.DONE, _U.FAILED}),
    _U.DONE: frozenset(),
    _U.REVERTED: frozenset(),
    _U.FAILED: frozenset(),
}

#: Named for the OpenAPI schema.
UPGRADE_STATE_CHOICES = UpgradeState.choices()
SAVEPOINT_STATE_CHOICES = SavepointState.choices()
JOB_STATE_CHOICES = JobState.choices()
ATTEMPT_STATE_CHOICES = AttemptState.choices()
TASKMANAGER_STATE_CHOICES = TaskManagerState.choices()
ALERT_STATE_CHOICES = AlertState.choices()
DELIVERY_STATE_CHOICES = DeliveryState.choices()


class ForbiddenTransition(Exception):
    """This state cannot follow that one; nothing was changed."""


class Stateful(Protocol):
    """A row whose `state` is one of the enums above."""

    pk: Any
    state: Any

    def transitions(self) -> Mapping[State, frozenset[State]]:
        """Which state may follow which."""
        ...

    def entering(self, target: State) -> dict[str, Any]:
        """Further columns that change together with the state."""
        ...

    def entered(self, seen: State) -> None:
        """Called in the same transaction when the state was changed by this caller."""
        ...


def change_state(
    row: Stateful, target: State, unchanged: Collection[str] = (), **fields: Any
) -> bool:
    """Change `row` from the state it was read in to `target`, with `fields` beside it.

    Compare-and-set: False, and nothing changed, when the row is no longer in the state it was
    read in, or a column of `unchanged` is no longer as it was read. Raises ForbiddenTransition
    when the table does not allow it. Call it inside a transaction: what `entered` writes belongs
    to the change.
    """
    seen = type(target)(row.state)
    if target not in row.transitions()[seen]:
        raise ForbiddenTransition(f"{type(row).__name__} {row.pk}: {seen} -> {target}")
    columns = {**row.entering(target), **fields}
    rows: Any = type(row)._default_manager  # type: ignore[attr-defined]
    as_read = {name: getattr(row, name) for name in unchanged}
    if not rows.filter(pk=row.pk, state=seen, **as_read).update(state=target, **columns):
        return False
    row.state = target
    for name, value in columns.items():
        setattr(row, name, value)
    row.entered(seen)
    return True

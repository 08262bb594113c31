"""What a driver tells the control plane: one dataclass per kind of event.

Events are facts in the past tense, numbered by the journal (`headrace.wire.journal`). Times are
milliseconds since 1970 UTC, durations are milliseconds, sizes are bytes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

from headrace.wire.columns import Column


@dataclass(frozen=True, slots=True)
class Event:
    KIND: ClassVar[str] = ""

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.KIND, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Started(Event):
    """The driver process is up and about to run the job's program."""

    KIND: ClassVar[str] = "started"
    pid: int
    spark_master: str
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Planned(Event):
    """The job graph, in the form of Flink's plan: {"nodes": [{id, description, inputs, ...}]}."""

    KIND: ClassVar[str] = "planned"
    plan: dict[str, Any]
    #: Dotted names of sources and sinks, e.g. "kafka:flights".
    sources: list[str] = field(default_factory=list)
    sinks: list[str] = field(default_factory=list)
    checkpoint_interval: int = 0
    #: What configuration and program say about restarts, by Flink's keys; None: nobody asked them.
    restart_strategy: dict[str, str] | None = None
    #: Slots by slot sharing group; empty: as the job's parallelism.
    slots: dict[str, int] = field(default_factory=dict)
    #: What configuration and program say about checkpoints and savepoints, by Flink's keys.
    checkpoint_settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Running(Event):
    """The streaming query runs. `restored_checkpoint` is the id it goes on from, if any."""

    KIND: ClassVar[str] = "running"
    restored_checkpoint: int | None = None
    application_id: str = ""
    #: What recovery did: transactions committed again, aborted, recomputed.
    recovered: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckpointCompleted(Event):
    """One micro-batch is committed: offsets, state and output transactions belong together."""

    KIND: ClassVar[str] = "checkpoint"
    checkpoint_id: int
    started_at: int
    duration: int
    #: Bytes and rows of the keyed state after this batch.
    state_size: int = 0
    state_rows: int = 0
    records_in: int = 0
    #: Per sink name.
    records_out: dict[str, int] = field(default_factory=dict)
    transactions: int = 0
    #: Phases of the batch in milliseconds (Spark's durationMs).
    phases: dict[str, int] = field(default_factory=dict)
    #: {"topic": {"partition": offset}} the next batch starts from.
    offsets: dict[str, dict[str, int]] = field(default_factory=dict)
    #: Same shape: records the brokers hold beyond `offsets`.
    lag: dict[str, dict[str, int]] = field(default_factory=dict)
    #: Same shape: what the sources' consumer groups had committed to Kafka by then.
    committed_offsets: dict[str, dict[str, int]] = field(default_factory=dict)
    #: Milliseconds from a record's timestamp in the source to visible for read_committed:
    #: {"p50":, "p90":, "p99":, "max":, "count":}; empty when nothing came in.
    latency: dict[str, float] = field(default_factory=dict)
    #: Event-time watermark, or None before the first.
    watermark: int | None = None
    #: Counters since the start of the job: dead letters, late records dropped, the user's own.
    counters: dict[str, int] = field(default_factory=dict)
    #: What functions measured in this batch: their gauges, and of their distributions
    #: [number, sum, smallest, largest].
    gauges: dict[str, float] = field(default_factory=dict)
    distributions: dict[str, list[float]] = field(default_factory=dict)
    #: Of each vertex: {"busy": [milliseconds of each subtask]} and, where it is the only one of
    #: its level that keeps state, {"state_size": bytes, "state_rows"}.
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckpointFailed(Event):
    """A micro-batch takes longer than the checkpoint's timeout. It may still be completed."""

    KIND: ClassVar[str] = "checkpoint-failed"
    checkpoint_id: int
    error: str
    #: With this one; the job fails when there are more than it tolerates.
    in_a_row: int = 1


@dataclass(frozen=True, slots=True)
class Progressed(Event):
    """Nothing to process: lag and time only, at most every few seconds."""

    KIND: ClassVar[str] = "progressed"
    lag: dict[str, dict[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measured(Event):
    """What the attempt has done up to now, under Flink's names: at most every two seconds, and at
    its end. Ids have 32 hexadecimal digits, times are milliseconds."""

    KIND: ClassVar[str] = "measured"
    #: Of the job as a whole.
    job: dict[str, float] = field(default_factory=dict)
    #: By vertex, Flink's task scope; by operator, with what its own functions measure: columns
    #: of `headrace.wire.columns`.
    vertices: dict[str, dict[str, Column]] = field(default_factory=dict)
    operators: dict[str, dict[str, Column]] = field(default_factory=dict)
    #: A histogram for each pair: {"source", "sink": operators' ids, "to": "pre-commit" or
    #: "visible", "count", "min", "max", "mean", "stddev", "p50", "p75", … "p999"}.
    latency: list[dict[str, Any]] = field(default_factory=list)
    #: topic -> partition -> {"lag", "read", "arriving", "trend" (per second), "catch_up" (s)}
    partitions: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    #: operator -> {"watermark", "held_by": operator, "split", "idle": [splits]}
    watermarks: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: vertex -> [{"name", "type", "value"}]
    accumulators: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    #: How often a function measured something under a name too many.
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class SavepointCompleted(Event):
    """A savepoint is whole at `path`."""

    KIND: ClassVar[str] = "savepoint-completed"
    savepoint_id: str
    path: str
    checkpoint_id: int
    size: int
    files: int = 0
    #: Milliseconds of copying; the job ran on meanwhile.
    duration: int = 0
    artifact_sha256: str = ""


@dataclass(frozen=True, slots=True)
class SavepointFailed(Event):
    """There is no savepoint; the job goes on as it was, unless it has ended otherwise."""

    KIND: ClassVar[str] = "savepoint-failed"
    savepoint_id: str
    error: str


@dataclass(frozen=True, slots=True)
class SavepointDisposed(Event):
    """The savepoint that the job began with, and owned, was removed: it has a checkpoint of its
    own now."""

    KIND: ClassVar[str] = "savepoint-disposed"
    savepoint_id: str
    path: str


@dataclass(frozen=True, slots=True)
class CommandDone(Event):
    """A command of the control plane was carried out, or refused (`error`)."""

    KIND: ClassVar[str] = "command-done"
    command_id: str
    error: str = ""
    result: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """The attempt failed. `error` is one line, `traceback` the user's Python traceback."""

    KIND: ClassVar[str] = "failed"
    error: str
    traceback: str = ""
    #: False for an error that another attempt would meet again (a program that does not import).
    restartable: bool = True
    #: `headrace.wire.failures.Cause`.
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Stopped(Event):
    """The driver ended on purpose. `reason` is "finished", "canceled" or "suspended"."""

    KIND: ClassVar[str] = "stopped"
    reason: str
    #: Its checkpoints were removed, as the job's configuration asks for.
    checkpoints_removed: bool = False


KINDS: dict[str, type[Event]] = {
    kind.KIND: kind
    for kind in (
        Started,
        Planned,
        Running,
        CheckpointCompleted,
        CheckpointFailed,
        Progressed,
        Measured,
        SavepointCompleted,
        SavepointFailed,
        SavepointDisposed,
        CommandDone,
        Failed,
        Stopped,
    )
}


def from_json(values: dict[str, Any]) -> Event:
    """The event of `to_json`'s answer. Unknown fields are left out (a newer driver may send
    more); an unknown kind raises ValueError."""
    kind = KINDS.get(values.get("kind", ""))
    if kind is None:
        raise ValueError(f"unknown kind of event {values.get('kind')!r}")
    known = {f.name for f in fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in known})

"""What a driver tells the control plane: one dataclass per kind of event.

Events are facts in the past tense, numbered by the journal (`headrace.wire.journal`). Times are
milliseconds since 1970 UTC, durations are milliseconds, sizes are bytes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar


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


@dataclass(frozen=True, slots=True)
class Progressed(Event):
    """Nothing to process: lag and time only, at most every few seconds."""

    KIND: ClassVar[str] = "progressed"
    lag: dict[str, dict[str, int]] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True)
class Stopped(Event):
    """The driver ended on purpose. `reason` is "finished", "canceled" or "suspended"."""

    KIND: ClassVar[str] = "stopped"
    reason: str


KINDS: dict[str, type[Event]] = {
    kind.KIND: kind
    for kind in (
        Started,
        Planned,
        Running,
        CheckpointCompleted,
        Progressed,
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

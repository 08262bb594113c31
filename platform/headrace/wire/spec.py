"""What one attempt of a job is to run: written by the control plane, read by the driver."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from headrace.wire import rundir

#: Read by the driver's first call of `StreamExecutionEnvironment`; set by the launcher.
RUN_DIR_VARIABLE = "HEADRACE_RUN_DIR"


@dataclass(frozen=True, slots=True)
class JobSpec:
    """One attempt. `job_id` is 32 hex digits as Flink's; paths are absolute."""

    job_id: str
    name: str
    attempt: int
    #: The job's Python file.
    entry: str
    arguments: list[str] = field(default_factory=list)
    parallelism: int = 1
    #: Spark master URL; `local[n]` where a TaskManager's slots are on its own machine.
    master: str = "local[1]"
    #: Slots that it was given; 0: as its parallelism.
    slots: int = 0
    #: Memory for the driver and all its processes, MiB, from the slots; on a Spark cluster that of
    #: one slot, for the driver and for each executor.
    memory_mib: int = 2700
    #: Directory that outlives attempts: checkpoints, manifests, state.
    checkpoint_dir: str = ""
    #: Batches have been completed in it: it is never empty any more.
    has_checkpoints: bool = False
    #: Jar files for Spark's class path.
    jars: list[str] = field(default_factory=list)
    #: Where the job finds Kafka unless it names another.
    kafka_bootstrap_servers: str = "127.0.0.1:9092"
    #: The savepoint that it begins with at its first start: `savepoint.Restore`; empty: none.
    restore: dict[str, Any] = field(default_factory=dict)
    #: Settings of the job (Flink's keys) beyond what the program sets itself.
    configuration: dict[str, str] = field(default_factory=dict)

    def write(self, run_dir: Path) -> None:
        rundir.write_atomically(run_dir / rundir.SPEC, json.dumps(asdict(self), indent=2).encode())

    @classmethod
    def read(cls, run_dir: Path) -> JobSpec:
        """Raises FileNotFoundError, or ValueError for a file that is no spec."""
        values = json.loads((run_dir / rundir.SPEC).read_text())
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"{run_dir / rundir.SPEC} is no job spec: {error}") from error

"""A driver without Spark that costs next to nothing: a small real process that speaks the journal.

`driver.py <run_dir>`. The job's arguments: `--every S`, seconds between its batches. It fails when
there is a file `fail` in its run directory.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from headrace.wire import commands, events, journal, rundir
from headrace.wire.spec import JobSpec

LOOK_SECONDS = 0.5
#: In a run directory: its driver is to fail.
FAIL = "fail"
ENDS = {"cancel": "canceled", "suspend": "suspended"}


def main(run_dir: Path) -> int:
    spec = JobSpec.read(run_dir)
    said = journal.JournalWriter(run_dir)
    said.append(events.Started(os.getpid(), spec.master), durable=False)
    every = float(spec.arguments[spec.arguments.index("--every") + 1])
    interval = int(every * 1000)
    said.append(events.Planned({"nodes": []}, checkpoint_interval=interval), durable=False)
    # Of the attempts before nothing is kept but their number: ids of checkpoints only grow.
    first = (spec.attempt - 1) * 100_000
    said.append(events.Running(first or None, f"simulated-{spec.attempt}"), durable=False)
    return _run(run_dir, said, first, every)


def _run(run_dir: Path, said: journal.JournalWriter, last: int, every: float) -> int:
    due = time.monotonic() + every
    while True:
        (run_dir / rundir.HEARTBEAT).touch()
        if (run_dir / FAIL).exists():
            said.append(events.Failed("a failure that the benchmark asked for", restartable=True))
            return 1
        if (end := _asked(run_dir, said)) is not None:
            said.append(events.Stopped(end))
            return 0
        if time.monotonic() >= due:
            due += every
            last += 1
            said.append(_batch(last))
        time.sleep(LOOK_SECONDS)


def _asked(run_dir: Path, said: journal.JournalWriter) -> str | None:
    for path, command in commands.pending(run_dir):
        path.unlink()
        said.append(events.CommandDone(command.command_id))
        if command.verb in ENDS:
            return ENDS[command.verb]
    return None


def _batch(number: int) -> events.CheckpointCompleted:
    """As large as what a job with one source of four partitions and one sink reports."""
    partitions = {str(n): number * 1000 for n in range(4)}
    return events.CheckpointCompleted(
        number,
        int(time.time() * 1000) - 150,
        150,
        state_size=1_000_000,
        state_rows=10_000,
        records_in=4000,
        records_out={"results": 4000},
        transactions=4,
        phases={"planning": 20, "processing": 100, "commit": 30},
        offsets={"topic": partitions},
        lag={"topic": dict.fromkeys(partitions, 10)},
        latency={"p50": 120.0, "p99": 240.0},
        watermark=1_700_000_000_000 + number,
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

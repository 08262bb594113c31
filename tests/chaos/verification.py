"""After the last fault: is everything there, once, in order, and nothing left over?"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tests.chaos import answers, processes, reading
from tests.chaos.workloads import Workload

#: A failed task's transaction is aborted by the next commits, or by its timeout.
OPEN_SECONDS = 30.0
PROCESS_SECONDS = 60.0


class Written(Protocol):
    """What a job reads and writes."""

    source: str
    outputs: list[str]
    #: Whether its records carry a count.
    counted: bool
    #: Names of its sinks, in transactional ids that begin with `prefix`.
    sinks: list[str]
    prefix: str
    #: Of its transactions.
    timeout_ms: int


def problems_of(workload: Workload) -> list[str]:
    """What is wrong with what a workload has left behind. It has ended."""
    problems = broker_problems(workload.site.servers, workload)
    left = processes.left_after(f"{workload.site.run}/{workload.name}/", PROCESS_SECONDS)
    return problems + [f"still runs: {process}" for process in left]


def broker_problems(servers: str, written: Written) -> list[str]:
    """What is wrong at the broker, after the last driver has ended."""
    read = reading.committed(servers, written.source)
    given = answers.tally(read.values, counted=False)
    expected = {key: len(numbers) for key, numbers in given.numbers.items()}
    problems = [f"the input itself: {problem}" for problem in given.problems]
    for topic in written.outputs:
        problems += output_problems(servers, topic, expected, counted=written.counted)
    problems += _batch_problems(servers, written, given.records)
    return problems + reading.transaction_problems(
        servers, written.prefix, written.sinks, written.timeout_ms / 1000 + OPEN_SECONDS
    )


def output_problems(
    servers: str,
    topic: str,
    expected: dict[str, int],
    *,
    counted: bool,
    seconds: float = reading.READ_SECONDS,
) -> list[str]:
    found = reading.committed(servers, topic, seconds)
    problems = [f"a consumer is stuck at {where}" for where in found.stuck.values()]
    problems += answers.differences(expected, answers.tally(found.values, counted=counted))
    return [f"{topic}: {problem}" for problem in problems]


def _batch_problems(servers: str, written: Written, records: int) -> list[str]:
    committed, doubled = reading.markers(servers, written.prefix)
    problems = answers.batch_differences(committed, doubled)
    for name in written.sinks:
        marked = sum(count for (_, sink, _), count in committed.items() if sink == name)
        if marked != records:
            problems.append(f"sink {name}: markers of {marked} records, {records} came in")
    return [f"batch markers: {problem}" for problem in problems]


def keep_evidence(servers: str, written: Written, folder: Path) -> None:
    """What the topics hold, committed and not; logs and checkpoint are there already."""
    folder.mkdir(parents=True, exist_ok=True)
    for topic in (written.source, *written.outputs):
        lines = [
            f"{m.partition()} {m.offset()} {m.timestamp()[1]} {(m.value() or b'').decode()}\n"
            for m in reading.committed(servers, topic, 30).messages
        ]
        (folder / f"{topic}.txt").write_text("".join(lines))
    states = reading.transactions(servers, written.prefix)
    (folder / f"{written.prefix}-transactions.txt").write_text(
        "".join(f"{name} {state}\n" for name, state in states.items())
    )

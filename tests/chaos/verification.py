"""After the last fault: is everything there, once, in order, and nothing left over?"""

from __future__ import annotations

from pathlib import Path

from tests.chaos import answers, processes, reading
from tests.chaos.workloads import Workload

#: A failed task's transaction is aborted by the next commits, or by its timeout.
OPEN_SECONDS = 30.0
PROCESS_SECONDS = 60.0


def problems_of(workload: Workload) -> list[str]:
    """What is wrong with what a workload has left behind. It has ended."""
    servers = workload.site.servers
    read = reading.committed(servers, workload.source)
    given = answers.tally(read.values, counted=False)
    expected = {key: len(numbers) for key, numbers in given.numbers.items()}
    problems = [f"the input itself: {problem}" for problem in given.problems]
    for topic in workload.outputs:
        problems += output_problems(servers, topic, expected, counted=workload.counted)
    problems += _batch_problems(workload, given.records)
    problems += reading.transaction_problems(
        servers, workload.prefix, workload.sinks, workload.timeout_ms / 1000 + OPEN_SECONDS
    )
    left = processes.left_after(f"{workload.site.run}/{workload.name}/", PROCESS_SECONDS)
    return problems + [f"still runs: {process}" for process in left]


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


def _batch_problems(workload: Workload, records: int) -> list[str]:
    committed, doubled = reading.markers(workload.site.servers, workload.prefix)
    problems = answers.batch_differences(committed, doubled)
    for name in workload.sinks:
        marked = sum(count for (_, sink, _), count in committed.items() if sink == name)
        if marked != records:
            problems.append(f"sink {name}: markers of {marked} records, {records} came in")
    return [f"batch markers: {problem}" for problem in problems]


def keep_evidence(workload: Workload, folder: Path) -> None:
    """What the topics hold, committed and not; logs and checkpoint are there already."""
    folder.mkdir(parents=True, exist_ok=True)
    for topic in (workload.source, *workload.outputs):
        lines = [
            f"{m.partition()} {m.offset()} {m.timestamp()[1]} {(m.value() or b'').decode()}\n"
            for m in reading.committed(workload.site.servers, topic, 30).messages
        ]
        (folder / f"{topic}.txt").write_text("".join(lines))
    states = reading.transactions(workload.site.servers, workload.prefix)
    (folder / f"{workload.name}-transactions.txt").write_text(
        "".join(f"{name} {state}\n" for name, state in states.items())
    )

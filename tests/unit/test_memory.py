"""What a TaskManager manages, how a job's share of it is divided, and who takes too much."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.runtime import memory as division
from headrace.runtime.errors import JobFailed
from workers import memory

GIB = 1024


@pytest.mark.parametrize(
    ("machine", "slots", "managed"),
    [
        (16 * GIB, 2, 9830),  # a share, so that the rest of the machine has the other
        (5 * GIB, 2, 3200),  # enough for each slot, where that leaves something
        (2 * GIB, 4, 1638),
    ],
)
def test_a_taskmanager_manages_a_share_of_the_machine(
    machine: int, slots: int, managed: int
) -> None:
    assert memory.managed_mib(slots, machine) == managed


def test_a_container_counts_as_the_machine(tmp_path: Path) -> None:
    whole = memory.machine(tmp_path)
    limit = tmp_path / "memory.max"

    limit.write_text("max\n")
    assert memory.machine(tmp_path) == whole > 64
    limit.write_text(f"{64 * 1024 * 1024}\n")
    assert memory.machine(tmp_path) == 64


@pytest.mark.parametrize(
    ("total", "heap"),
    [(division.LEAST_MIB, 450), (1600, 450), (2048, 628), (8 * GIB, 4315)],
)
def test_a_driver_has_room_beside_its_heap(total: int, heap: int) -> None:
    found = division.of_driver(total)

    assert found.heap == heap
    assert found.beside_heap == total - heap >= division.LEAST_OVERHEAD_MIB


def test_too_little_for_spark_is_said_and_not_tried_again() -> None:
    with pytest.raises(JobFailed, match="512 MiB, is too little for Spark: at least 1150") as error:
        division.of_driver(512)

    assert not error.value.restartable
    assert division.shortage("MemoryError", 512, None) is None


def test_errors_of_memory_name_it() -> None:
    found = division.shortage("operator 'count': MemoryError", 2000, None)

    assert found is not None
    assert found.startswith(
        "out of memory in a Python worker, which may take 1400 MiB of the 2000 MiB of the job's "
        "slots: operator 'count': MemoryError."
    )
    assert division.shortage("ValueError: no memory of that", 2000, None) is None


@pytest.mark.parametrize(
    ("code", "words"), [(3, "end of its heap, 600 MiB of the 2000 MiB"), (-9, "SIGKILL")]
)
def test_a_jvm_that_ended_for_want_of_memory_is_named(code: int, words: str) -> None:
    ends = f"import os, sys; os.kill(os.getpid(), 9) if {code} < 0 else sys.exit({code})"

    class Gateway:
        proc = subprocess.Popen([sys.executable, "-c", ends])

    Gateway.proc.wait(240)
    found = division.shortage("Py4JNetworkError: Answer from Java side is empty", 2000, Gateway())

    assert found is not None
    assert words in found


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not limit it")
def test_a_worker_gets_no_more_than_its_limit() -> None:
    program = (
        "from headrace.runtime import memory\n"
        "memory.limit_this_process()\n"
        "kept = [bytearray(8_000_000) for _ in range(4)]\n"
        "try:\n"
        "    kept += [bytearray(8_000_000) for _ in range(40)]\n"
        "except MemoryError:\n"
        "    print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, division.WORKER_VARIABLE: "100"},
        capture_output=True,
        text=True,
        timeout=400,
        check=True,
    )

    assert done.stdout == "refused\n"


def test_who_is_over_the_limit_in_two_looks_is_named() -> None:
    now = 0.0
    me = os.getpid()
    scales = memory.Scales(lambda: now)

    def weigh(limit: int) -> memory.Use | None:
        return scales.weigh(me, lambda: [me], limit)

    assert weigh(0) is None
    assert weigh(0) is None, "looked again too soon"
    now = 10.0
    found = weigh(0)
    assert found is not None
    assert found.total > 10
    assert str(found) == f"driver {found.total} MiB"
    now = 20.0
    assert weigh(1_000_000) is None
    now = 30.0
    assert weigh(0) is None, "counts from the first again"


def test_processes_that_end_meanwhile_do_not_count() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(240)

    assert memory.used(1, [ended.pid]).total == 0

"""The file in which a JVM keeps its counters, as `jstat` reads it."""

from __future__ import annotations

import struct
from pathlib import Path

import psutil
import pytest

from workers import jvm_counters

COUNTERS = {
    "sun.gc.generation.0.maxCapacity": 1_000_016,
    "sun.gc.generation.0.capacity": 400_000,
    "sun.gc.generation.0.space.0.used": 1_000,
    "sun.gc.generation.0.space.1.used": 500,
    "sun.gc.generation.1.maxCapacity": 1_000_000,
    "sun.gc.generation.1.capacity": 300_000,
    "sun.gc.generation.1.space.0.used": 200_000,
    "sun.gc.metaspace.used": 70,
    "sun.gc.metaspace.capacity": 90,
    "sun.gc.collector.0.invocations": 12,
    "sun.gc.collector.0.time": 3_000_000,
    "sun.gc.collector.1.invocations": 2,
    "sun.gc.collector.1.time": 1_000_000,
    "sun.os.hrt.frequency": 1_000_000,
    "java.cls.loadedClasses": 1_475,
    "java.cls.sharedLoadedClasses": 810,
}


def file_of(values: dict[str, int]) -> bytes:
    entries = b"".join(_entry(name, value) for name, value in values.items())
    head = struct.pack(">I", 0xCAFEC0C0) + bytes([1, 2, 0, 1])
    return head + struct.pack("<iiqii", len(entries), 0, 1, 32, len(values)) + entries


def _entry(name: str, value: int) -> bytes:
    text = name.encode() + b"\0"
    value_at = -(-(20 + len(text)) // 8) * 8
    head = struct.pack("<iiibbbbi", value_at + 8, 20, 0, ord("J"), 0, 1, 1, value_at)
    return (head + text).ljust(value_at, b"\0") + struct.pack("<q", value)


def test_counters_are_read_by_name() -> None:
    assert jvm_counters.counters(file_of(COUNTERS)) == COUNTERS


def test_a_jvm_is_found_by_its_process(tmp_path: Path) -> None:
    process = psutil.Process()
    folder = tmp_path / f"hsperfdata_{process.username()}"
    folder.mkdir()
    (folder / str(process.pid)).write_bytes(file_of(COUNTERS))

    assert jvm_counters.of(process, tmp_path) == jvm_counters.Jvm(
        heap_used=201_500,
        heap_committed=700_000,
        heap_max=1_000_016,  # not twice: either generation may grow to it
        metaspace_used=70,
        metaspace_committed=90,
        classes_loaded=2_285,
        classes_unloaded=0,
        collections=14,
        collection_ms=4_000,
    )


def test_generations_of_their_own_sizes_add_up(tmp_path: Path) -> None:
    values = {**COUNTERS, "sun.gc.generation.0.maxCapacity": 500_000}
    process = psutil.Process()
    folder = tmp_path / f"hsperfdata_{process.username()}"
    folder.mkdir()
    (folder / str(process.pid)).write_bytes(file_of(values))

    found = jvm_counters.of(process, tmp_path)

    assert found is not None
    assert found.heap_max == 1_500_000


@pytest.mark.parametrize("content", [None, b"", b"x" * 400, file_of(COUNTERS)[:300], file_of({})])
def test_a_jvm_that_says_nothing_readable_is_not_known(
    tmp_path: Path, content: bytes | None
) -> None:
    process = psutil.Process()
    folder = tmp_path / f"hsperfdata_{process.username()}"
    folder.mkdir()
    if content is not None:
        (folder / str(process.pid)).write_bytes(content)

    assert jvm_counters.of(process, tmp_path) is None

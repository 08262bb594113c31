"""What a JVM tells about itself: the counters that it keeps in a file for tools like `jstat`.

The file is mapped memory that the JVM writes and anybody of the same user may read; reading costs
the JVM nothing. Heap use is that after its last garbage collection.
"""

from __future__ import annotations

import contextlib
import struct
from dataclasses import dataclass
from pathlib import Path

import psutil

#: Where HotSpot puts them, whatever `java.io.tmpdir` says.
FOLDER = Path("/tmp")
MOST_BYTES = 1 << 20
_MAGIC = 0xCAFEC0C0
_HEAD = 32
_LONG = ord("J")


@dataclass(frozen=True, slots=True)
class Jvm:
    """Bytes, milliseconds and numbers."""

    heap_used: int
    heap_committed: int
    heap_max: int
    metaspace_used: int
    metaspace_committed: int
    classes_loaded: int
    classes_unloaded: int
    #: Collections so far, and the time that they took.
    collections: int
    collection_ms: int


def of(process: psutil.Process, folder: Path = FOLDER) -> Jvm | None:
    """None when it keeps no counters, or not where this process can read them."""
    with contextlib.suppress(OSError, psutil.Error, ValueError, struct.error, KeyError):
        path = folder / f"hsperfdata_{process.username()}" / str(process.pid)
        with path.open("rb") as file:
            return _jvm(counters(file.read(MOST_BYTES)))
    return None


def counters(data: bytes) -> dict[str, int]:
    """The whole numbers among the counters, by name. Raises ValueError for what is no such file,
    struct.error for one that is cut off."""
    if len(data) < _HEAD or struct.unpack_from(">I", data)[0] != _MAGIC:
        raise ValueError("no counters of a JVM")
    order = "<" if data[4] else ">"
    position, number = struct.unpack_from(f"{order}ii", data, 24)
    found = {}
    for _ in range(number):
        length, name_at, _, kind, _, _, _, value_at = struct.unpack_from(
            f"{order}iiibbbbi", data, position
        )
        if length <= 0:
            raise ValueError("an entry without a length")
        if kind == _LONG:
            name = data[position + name_at : data.index(b"\0", position + name_at)].decode()
            found[name] = struct.unpack_from(f"{order}q", data, position + value_at)[0]
        position += length
    return found


def _jvm(values: dict[str, int]) -> Jvm:
    spaces = [name for name in values if name.startswith("sun.gc.generation.")]
    limits = [values[n] for n in spaces if n.count(".") == 4 and n.endswith(".maxCapacity")]
    ticks = values["sun.os.hrt.frequency"] / 1000
    of_collectors = [name for name in values if name.startswith("sun.gc.collector.")]
    return Jvm(
        heap_used=sum(values[n] for n in spaces if n.endswith(".used")),
        heap_committed=sum(
            values[n] for n in spaces if n.count(".") == 4 and n.endswith(".capacity")
        ),
        # Where a collector lets each generation grow to the whole heap, both say the same.
        heap_max=max(limits) if max(limits) - min(limits) < 1024 else sum(limits),
        metaspace_used=values.get("sun.gc.metaspace.used", 0),
        metaspace_committed=values.get("sun.gc.metaspace.capacity", 0),
        classes_loaded=_sum(values, "java.cls.loadedClasses", "java.cls.sharedLoadedClasses"),
        classes_unloaded=_sum(values, "java.cls.unloadedClasses", "java.cls.sharedUnloadedClasses"),
        collections=sum(values[n] for n in of_collectors if n.endswith(".invocations")),
        collection_ms=int(sum(values[n] for n in of_collectors if n.endswith(".time")) / ticks),
    )


def _sum(values: dict[str, int], *names: str) -> int:
    return sum(values.get(name, 0) for name in names)

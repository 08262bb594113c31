"""Roll-ups of figures over time: points in chunks, finer ones merged into coarser. No I/O.

A point says how many samples fell into a bucket of time, and their smallest, mean and largest
value. Merging points loses nothing of that, in whatever order samples come. A chunk holds the
buckets of one resolution over a span that is one bucket of the next coarser resolution.
"""

from __future__ import annotations

import bisect
import json
import struct
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

#: More than the eye sees in a chart; numbers of few digits are what compresses.
DIGITS = 6
#: Between a name and its lists; JSON writes none by itself.
_SEPARATOR = "\t"
#: The first byte of a chunk in parts, with which nothing begins that zlib has compressed; names
#: of a part, about.
_IN_PARTS, _NAMES_OF_PART = 1, 16


@dataclass(frozen=True, slots=True)
class Resolution:
    """All in seconds: of one bucket, of one chunk, and how long before a job's newest sample
    chunks are kept (`keep`), and before now, for jobs that have no new ones (`keep_idle`)."""

    width: int
    chunk: int
    keep: int
    keep_idle: int

    def chunk_of(self, at: float) -> int:
        """When the chunk begins that holds this time."""
        return int(at // self.chunk) * self.chunk

    def bucket_of(self, at: float) -> int:
        """The number of the bucket in its chunk that holds this time."""
        return int(at % self.chunk) // self.width


_HOUR, _DAY = 3_600, 86_400
SECONDS = Resolution(width=2, chunk=60, keep=_HOUR, keep_idle=7 * _DAY)
MINUTES = Resolution(width=60, chunk=_HOUR, keep=7 * _DAY, keep_idle=90 * _DAY)
HOURS = Resolution(width=_HOUR, chunk=_DAY, keep=366 * _DAY, keep_idle=366 * _DAY)
#: Finest first.
RESOLUTIONS = (SECONDS, MINUTES, HOURS)


class Point(NamedTuple):
    """What `number` samples of one bucket say."""

    number: int
    low: float
    mean: float
    high: float


def sample(value: float) -> Point:
    short = rounded(value)
    return Point(1, short, short, short)


def merged(points: Iterable[Point]) -> Point:
    """One point for all of their samples; there must be one."""
    found = list(points)
    if len(found) == 1:
        return found[0]
    count = sum(point.number for point in found)
    low, high = min(point.low for point in found), max(point.high for point in found)
    mean = sum(point.mean * (point.number / count) for point in found)
    return Point(count, low, min(max(mean, low), high), high)


@dataclass(slots=True)
class Column:
    """The points of one name in one chunk, by the numbers of their buckets, which grow."""

    buckets: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    lows: list[float] = field(default_factory=list)
    means: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)

    def add(self, bucket: int, point: Point) -> None:
        """Merge a point into its bucket."""
        index = bisect.bisect_left(self.buckets, bucket)
        if index < len(self.buckets) and self.buckets[index] == bucket:
            self._set(index, merged((self._get(index), point)))
        else:
            self._insert(index, bucket, point)

    def put(self, bucket: int, point: Point) -> None:
        """Have this point in its bucket, whatever was there."""
        index = bisect.bisect_left(self.buckets, bucket)
        if index < len(self.buckets) and self.buckets[index] == bucket:
            self._set(index, point)
        else:
            self._insert(index, bucket, point)

    def points(self) -> Iterator[tuple[int, Point]]:
        """Bucket and point, oldest first."""
        rows = zip(self.counts, self.lows, self.means, self.highs, strict=True)
        return zip(self.buckets, map(Point._make, rows), strict=True)

    def between(
        self, first: int, end: int
    ) -> Iterator[tuple[int, tuple[int, float, float, float]]]:
        """Bucket and (number, low, mean, high), from `first` on and before `end`."""
        own = slice(bisect.bisect_left(self.buckets, first), bisect.bisect_left(self.buckets, end))
        rows = zip(self.counts[own], self.lows[own], self.means[own], self.highs[own], strict=True)
        return zip(self.buckets[own], rows, strict=True)

    def total(self) -> Point:
        return merged(point for _, point in self.points())

    def _get(self, index: int) -> Point:
        return Point(self.counts[index], self.lows[index], self.means[index], self.highs[index])

    def _set(self, index: int, point: Point) -> None:
        self.counts[index], self.lows[index], self.means[index], self.highs[index] = point

    def _insert(self, index: int, bucket: int, point: Point) -> None:
        self.buckets.insert(index, bucket)
        self.counts.insert(index, point.number)
        self.lows.insert(index, point.low)
        self.means.insert(index, point.mean)
        self.highs.insert(index, point.high)


Chunk = dict[str, Column]


def add(chunk: Chunk, bucket: int, name: str, point: Point) -> None:
    chunk.setdefault(name, Column()).add(bucket, point)


def roll_up(finer: Chunk, bucket: int, coarser: Chunk) -> None:
    """Have in that bucket of the coarser chunk what the finer one holds in all. Doing it again,
    when more has come in, does no harm."""
    for name, column in finer.items():
        if column.buckets:
            coarser.setdefault(name, Column()).put(bucket, _short(column.total()))


def encoded(chunk: Chunk) -> bytes:
    """In parts, so that who wants few of many names need not read all: how many there are and
    their lengths, then each compressed, a line of JSON for each name: [name] and [buckets, counts,
    lows, means, highs], or [buckets, values] where each bucket has one sample."""
    parts: list[list[str]] = [[] for _ in range(1 + len(chunk) // _NAMES_OF_PART)]
    for name, column in chunk.items():
        if column.buckets:
            lists = json.dumps(_lists(column), separators=(",", ":"))
            parts[_part(name, len(parts))].append(f"{json.dumps([name])}{_SEPARATOR}{lists}")
    packed = [zlib.compress("\n".join(lines).encode(), 1) if lines else b"" for lines in parts]
    head = struct.pack(f">BH{len(packed)}I", _IN_PARTS, len(packed), *map(len, packed))
    return head + b"".join(packed)


def decoded(data: bytes, names: Collection[str] | None = None) -> Chunk:
    """All of it, or what it has of these names. Raises ValueError for what is no such chunk."""
    wanted = None if names is None else {json.dumps([name]) for name in names}
    found = {}
    try:
        for part in _parts(data, names):
            for line in zlib.decompress(part).decode().split("\n"):
                name, separator, lists = line.partition(_SEPARATOR)
                if wanted is None or name in wanted:
                    (own,) = json.loads(name)
                    found[str(own)] = _column(*json.loads(lists if separator else ""))
    except (struct.error, zlib.error, TypeError, ValueError) as error:
        raise ValueError(f"no chunk of figures: {error}") from error
    return found


def _parts(data: bytes, names: Collection[str] | None) -> Iterator[bytes]:
    """Those that may hold these names."""
    if data[:1] != bytes([_IN_PARTS]):
        yield data  # of an older version: one, which says itself where it ends
        return
    (count,) = struct.unpack_from(">H", data, 1)
    lengths = struct.unpack_from(f">{count}I", data, 3)
    wanted = None if names is None else {_part(name, count) for name in names}
    begin = 3 + 4 * count
    for number, length in enumerate(lengths):
        if length and (wanted is None or number in wanted):
            yield data[begin : begin + length]
        begin += length


def _part(name: str, count: int) -> int:
    """The number of the part that holds a name; names that begin alike are in one."""
    return zlib.crc32(name.partition(".")[0].encode(errors="replace")) % count


def _lists(column: Column) -> list[list[Any]]:
    if set(column.counts) == {1}:
        return [column.buckets, column.means]
    return [column.buckets, column.counts, column.lows, column.means, column.highs]


def _column(buckets: list[int], *lists: list[float]) -> Column:
    if len(lists) == 1:
        (means,) = lists
        return Column(buckets, [1] * len(buckets), [*means], means, [*means])
    counts, lows, means, highs = lists
    return Column(buckets, [int(count) for count in counts], lows, means, highs)


def _short(point: Point) -> Point:
    return Point(point.number, point.low, rounded(point.mean), point.high)


def rounded(value: float) -> float:
    """Whole numbers without a point: they take less room."""
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short

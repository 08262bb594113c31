"""Roll-ups say of any samples, in whatever order they come, how many, and between which values."""

from __future__ import annotations

import math
import random
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import rollups
from jobs.rollups import HOURS, MINUTES, SECONDS, Chunk, Column, Point

values = st.floats(min_value=-1e12, max_value=1e12, allow_nan=False)
many = st.lists(st.tuples(st.integers(0, 29), values), min_size=1, max_size=60)


def of(samples: list[tuple[int, float]]) -> Chunk:
    chunk: Chunk = {}
    for bucket, value in samples:
        rollups.add(chunk, bucket, "lag", rollups.sample(value))
    return chunk


@given(many)
@settings(max_examples=60, deadline=None)
def test_a_chunk_rolled_up_says_what_its_samples_say(samples: list[tuple[int, float]]) -> None:
    coarser: Chunk = {}
    rollups.roll_up(of(samples), 7, coarser)
    kept = [rollups.sample(value).mean for _, value in samples]

    ((bucket, point),) = coarser["lag"].points()

    assert (bucket, point.number) == (7, len(samples))
    assert (point.low, point.high) == (min(kept), max(kept))
    span = max(map(abs, kept))
    assert math.isclose(point.mean, sum(kept) / len(kept), rel_tol=1e-5, abs_tol=1e-5 * span)


@given(many, st.randoms())
@settings(max_examples=60, deadline=None)
def test_the_order_of_samples_does_not_matter(
    samples: list[tuple[int, float]], order: random.Random
) -> None:
    shuffled = [*samples]
    order.shuffle(shuffled)

    one, other = of(samples)["lag"], of(shuffled)["lag"]

    assert one.buckets == other.buckets == sorted({bucket for bucket, _ in samples})
    assert (one.counts, one.lows, one.highs) == (other.counts, other.lows, other.highs)


@given(many)
@settings(max_examples=60, deadline=None)
def test_a_chunk_is_read_as_it_was_written(samples: list[tuple[int, float]]) -> None:
    chunk = of(samples)

    assert rollups.decoded(rollups.encoded(chunk)) == chunk


@pytest.mark.parametrize("data", [b"", b"torn", zlib.compress(b"x"), zlib.compress(b'["a"]\t[1]')])
def test_what_is_no_chunk_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(ValueError, match="no chunk of figures"):
        rollups.decoded(data)


def test_some_names_are_read_without_the_others() -> None:
    odd = ["lag", 'tab\t"quote" \\ \n', "lag.flights.0", "é"]
    chunk: Chunk = {}
    for number, name in enumerate(odd):
        rollups.add(chunk, number, name, rollups.sample(number))

    for name in odd:
        assert rollups.decoded(rollups.encoded(chunk), {name, "x"}) == {name: chunk[name]}


def test_of_many_names_only_the_parts_that_are_asked_for_are_read() -> None:
    chunk: Chunk = {}
    for number in range(200):
        rollups.add(chunk, number % 24, f"{number:032x}.busy", rollups.sample(number))
    data = rollups.encoded(chunk)
    name = f"{7:032x}.busy"
    assert rollups.decoded(data) == chunk
    assert rollups.decoded(data, {name, "nothing"}) == {name: chunk[name]}
    torn = data[: len(data) // 2]
    with pytest.raises(ValueError, match="no chunk of figures"):
        rollups.decoded(torn)
    assert rollups.decoded(rollups.encoded({})) == {}


def test_chunks_of_older_versions_are_read() -> None:
    old = zlib.compress(b'["lag"]\t[[0,2],[1.5,3]]\n["x"]\t[[1],[2],[1],[2],[3]]', 1)
    assert rollups.decoded(old) == {
        "lag": Column([0, 2], [1, 1], [1.5, 3], [1.5, 3], [1.5, 3]),
        "x": Column([1], [2], [1], [2], [3]),
    }
    assert [*rollups.decoded(old, {"x"})] == ["x"]


def test_rolling_up_again_does_not_count_twice() -> None:
    coarser: Chunk = {}
    finer = of([(0, 1.0), (1, 3.0)])
    rollups.roll_up(finer, 0, coarser)
    rollups.add(finer, 2, "lag", rollups.sample(5.0))

    rollups.roll_up(finer, 0, coarser)

    assert list(coarser["lag"].points()) == [(0, Point(3, 1, 3, 5))]


def test_buckets_begin_where_the_clock_says() -> None:
    assert (SECONDS.chunk_of(119.999), SECONDS.bucket_of(119.999)) == (60, 29)
    assert (SECONDS.chunk_of(120.0), SECONDS.bucket_of(120.0)) == (120, 0)
    assert (MINUTES.chunk_of(7_199), MINUTES.bucket_of(7_199)) == (3_600, 59)
    assert (HOURS.chunk_of(86_400), HOURS.bucket_of(86_400)) == (86_400, 0)


def test_a_chunk_of_one_resolution_is_a_bucket_of_the_next() -> None:
    for finer, coarser in zip(rollups.RESOLUTIONS, rollups.RESOLUTIONS[1:], strict=False):
        assert finer.chunk == coarser.width
        assert coarser.chunk % coarser.width == 0
        assert finer.keep < coarser.keep


def test_what_is_kept_of_a_job_in_a_year_fits_into_what_is_stated() -> None:
    """docs/metrics-export.md: 10 MiB for 40 names that never stand still."""
    noise = random.Random(1)
    size = 0
    for resolution in rollups.RESOLUTIONS:
        chunk: Chunk = {}
        for bucket in range(resolution.chunk // resolution.width):
            for name in range(40):
                low, high = sorted((noise.lognormvariate(9, 1), noise.lognormvariate(9, 1)))
                point = Point(30, *(float(f"{v:.6g}") for v in (low, (low + high) / 2, high)))
                one = rollups.sample(low) if resolution is SECONDS else point
                rollups.add(chunk, bucket, f"{name:032x}.busyTimeMsPerSecond", one)
        size += len(rollups.encoded(chunk)) * (resolution.keep // resolution.chunk + 1)

    assert size < 10 * 1024 * 1024

"""How figures and times read on the pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dashboard import formats

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, formats.NOTHING),
        (0, "0"),
        (0.0312, "0.0312"),
        (7.111, "7.11"),
        (42.55, "42.5"),
        (12_345, "12,345"),
        (1_234_567, "1.23 M"),
        (45_600_000_000, "45.6 G"),
        (-1_500_000, "-1.50 M"),
    ],
)
def test_numbers(value: float | None, words: str) -> None:
    assert formats.number(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, formats.NOTHING),
        (0, "0 B"),
        (1023, "1023 B"),
        (1 << 20, "1.00 MiB"),
        (3e12, "2.73 TiB"),
    ],
)
def test_sizes(value: float | None, words: str) -> None:
    assert formats.size(value) == words


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (None, formats.NOTHING),
        (0, "0 ms"),
        (-5, "0 ms"),
        (830, "830 ms"),
        (4_200, "4.2 s"),
        (59_999, "59 s"),
        (189_000, "3 min 09 s"),
        (7_500_000, "2 h 05 min"),
        (100_800_000, "1 d 4 h"),
    ],
)
def test_durations(ms: float | None, words: str) -> None:
    assert formats.duration(ms) == words


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=-30), "in 30 s"),
        (timedelta(seconds=1), "just now"),
        (timedelta(seconds=12), "12 s ago"),
        (timedelta(minutes=3, seconds=50), "3 min ago"),
        (timedelta(hours=5), "5 h ago"),
        (timedelta(days=6, hours=23), "6 d ago"),
        (timedelta(days=9), "20 Feb 2026"),
    ],
)
def test_times_before_now(before: timedelta, words: str) -> None:
    assert formats.ago(NOW - before, NOW) == words

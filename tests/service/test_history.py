"""Figures over time in the tables: what is written is read again, in whichever resolution."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from jobs import history
from jobs.models import HistoryChunk
from jobs.rollups import HOURS, MINUTES, SECONDS
from tests.service import plans

pytestmark = pytest.mark.django_db

JOB = "ab" * 16
#: A full hour, so that buckets can be counted.
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def write(seconds: float, value: float, name: str = "lag") -> None:
    history.write(JOB, NOON + timedelta(seconds=seconds), {name: value})


def fill(start: datetime, length: timedelta, step: int, value: float = 1.0) -> None:
    """A sample each `step` seconds."""
    count = int(length.total_seconds()) // step
    moments = (start + timedelta(seconds=step * number) for number in range(count))
    history.write_all(JOB, [(at, {"lag": value}) for at in moments])


def lag(since: datetime, until: datetime, points: int = 300) -> list[history.Row]:
    return history.series(JOB, ["lag"], since, until, points)["lag"]


def ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def test_the_newest_samples_are_there_at_once_and_as_they_were() -> None:
    write(0, 5)
    write(2, 7)

    assert lag(NOON, NOON + timedelta(minutes=10)) == [
        (ms(NOON), 5, 5, 5),
        (ms(NOON) + 2000, 7, 7, 7),
    ]


def test_samples_of_one_bucket_are_merged() -> None:
    for second, value in ((0, 1), (1.9, 4), (2, 10)):
        write(second, value)

    assert lag(NOON, NOON + timedelta(minutes=1)) == [
        (ms(NOON), 1, 2.5, 4),
        (ms(NOON) + 2000, 10, 10, 10),
    ]


def test_minutes_and_hours_hold_what_the_seconds_held() -> None:
    for second in range(0, 7_200, 10):
        write(second, second)

    minutes = lag(NOON, NOON + timedelta(hours=5))
    assert minutes[0] == (ms(NOON), 0, 25, 50)
    assert len(minutes) == 120  # the last is open still, and told
    assert minutes[-1] == (ms(NOON + timedelta(minutes=119)), 7_140, 7_165, 7_190)
    hours = lag(NOON, NOON + timedelta(days=30))
    assert [(low, high) for _, low, _, high in hours] == [(0, 7_190)]
    hours = lag(NOON, NOON + timedelta(hours=2), 2)
    assert hours == [
        (ms(NOON), 0, 1_795, 3_590),
        (ms(NOON + HOUR), 3_600, 5_395, 7_190),
    ]


def test_a_sample_that_comes_late_counts_in_its_minute() -> None:
    write(5, 1)
    write(65, 1)
    write(125, 1)
    write(6, 9)  # its minute is closed

    minutes = lag(NOON, NOON + 10 * HOUR, 600)

    assert minutes[0] == (ms(NOON), 1, 5, 9)
    assert len(minutes) == 3


def test_the_order_of_batches_does_not_matter() -> None:
    order = random.Random(3)
    samples = [(NOON + timedelta(seconds=second), {"lag": second}) for second in range(0, 900, 7)]
    expected_low_high = []
    for subject in ("ordered", "mixed"):
        for begin in range(0, len(samples), 20):
            history.write_all(subject, samples[begin : begin + 20])
        found = history.series(subject, ["lag"], NOON, NOON + 5 * HOUR, 300)["lag"]
        expected_low_high.append([(at, low, high) for at, low, _, high in found])
        order.shuffle(samples)

    assert expected_low_high[0] == expected_low_high[1]
    assert len(expected_low_high[0]) == 15


def test_what_is_older_than_an_hour_before_the_newest_is_not_taken() -> None:
    write(7_200, 1)
    write(10, 99)

    assert lag(NOON, NOON + timedelta(hours=3), 180) == [(ms(NOON + 2 * HOUR), 1, 1, 1)]


def test_a_job_keeps_its_last_hour_in_seconds_however_long_ago_it_ended() -> None:
    fill(NOON - 2 * HOUR, 2 * HOUR, 20)
    for minute in range(3):  # as it comes: a batch after another
        write(60 * minute, 2)

    begins = HistoryChunk.objects.filter(subject=JOB, resolution=SECONDS.width)
    oldest = min(begins.values_list("begins", flat=True))

    assert oldest >= (NOON - HOUR).timestamp()
    assert begins.count() <= 63
    # One that asks for more than is kept in seconds gets minutes.
    found = lag(NOON - 2 * HOUR, NOON, 720)
    assert len(found) == 120
    # And one that asks for what is kept gets seconds.
    assert len(lag(NOON - timedelta(minutes=50), NOON, 720)) == 150


def test_a_job_that_began_lately_is_shown_in_seconds_in_a_long_range() -> None:
    now = NOON + timedelta(minutes=10)
    fill(NOON, timedelta(minutes=10), 2)

    assert len(lag(NOON - timedelta(minutes=20), now, 900)) == 300


def test_a_chart_has_about_as_many_points_as_it_asks_for() -> None:
    fill(NOON, 12 * HOUR, 30)

    for points in (10, 60, 300):
        found = lag(NOON, NOON + 12 * HOUR, points)
        assert points / 3 <= len(found) <= points + 1
        assert all(row[1:] == (1, 1, 1) for row in found)


def test_rows_do_not_grow_without_end() -> None:
    for day in range(12):
        fill(NOON + day * DAY, 30 * timedelta(minutes=1), 30)
        write(day * 86_400 + 1_800, 1)

    rows = HistoryChunk.objects.filter(subject=JOB)
    assert rows.filter(resolution=SECONDS.width).count() <= 61
    assert rows.filter(resolution=MINUTES.width).count() <= 8
    assert rows.filter(resolution=HOURS.width).count() == 12
    assert len(lag(NOON, NOON + 12 * DAY, 300)) == 12


def test_a_clock_that_is_ahead_removes_nothing() -> None:
    now = timezone.now()
    history.write(JOB, now, {"lag": 1})
    history.write(JOB, now + 30 * DAY, {"lag": 2})
    history.write(JOB, now + 30 * DAY + HOUR, {"lag": 2})

    assert lag(now - HOUR, now + HOUR, 60) != []


def test_a_clock_that_was_ahead_keeps_nothing_out_until_then() -> None:
    now = timezone.now().replace(minute=30, second=0, microsecond=0) - HOUR
    history.write(JOB, now + 2 * DAY, {"lag": 99})
    for minute in range(3):
        history.write(JOB, now + timedelta(minutes=minute), {"lag": minute})

    # The minute that is open is told when it is closed.
    assert [row[2] for row in lag(now, now + HOUR / 2, 30)] == [0, 1]


def test_old_rows_of_what_gets_no_samples_go_a_few_at_a_time() -> None:
    fill(NOON, 2 * HOUR, 30)
    before = HistoryChunk.objects.count()
    later = NOON + timedelta(days=8)

    assert history.prune(NOON + DAY) == 0
    assert history.prune(later, at_most=10) == 10
    while history.prune(later, at_most=10):
        pass

    left = HistoryChunk.objects.filter(subject=JOB)
    assert left.count() < before
    assert not left.filter(resolution=SECONDS.width).exists()
    assert len(lag(NOON, NOON + 2 * HOUR)) == 120  # in minutes
    history.prune(NOON + 100 * DAY)
    assert len(lag(NOON, NOON + 2 * HOUR)) == 2  # in hours
    history.prune(NOON + 400 * DAY)
    assert not left.exists()


def test_only_numbers_that_can_be_drawn_are_kept() -> None:
    odd = {"nan": float("nan"), "inf": float("inf"), "text": "5", "yes": True, "none": None}
    history.write(JOB, NOON, {**odd, "huge": 10**400, "fine": 5})
    history.write("nothing", NOON, odd)

    assert history.names(JOB) == ["fine"]
    assert not HistoryChunk.objects.filter(subject="nothing").exists()


def test_what_cannot_be_read_is_left_out_and_holds_up_no_job() -> None:
    write(0, 1)
    HistoryChunk.objects.update(data=b"torn")

    assert lag(NOON, NOON + HOUR) == []
    write(2, 7)
    assert [row[1] for row in lag(NOON, NOON + HOUR)] == [7]


def test_names_nobody_knows_have_no_points() -> None:
    assert history.series(JOB, ["x"], NOON, NOON + HOUR) == {"x": []}
    assert history.series(JOB, [], NOON + HOUR, NOON) == {}


def test_a_job_of_very_many_names_fills_no_table() -> None:
    history.write(JOB, NOON, {f"name-{number}": number for number in range(5_000)})

    assert len(history.names(JOB)) == history.NAMES


def test_no_query_reads_the_table_whole() -> None:
    for other in range(20):
        history.write(f"other-{other}", NOON, {"lag": 1})
    fill(NOON, 2 * HOUR, 30)

    with plans.recorded() as statements:
        write(7_300, 1)
        for length in (HOUR, DAY, 400 * DAY):
            lag(NOON, NOON + length)
        history.names(JOB)
        history.prune(timezone.now())

    assert plans.read_whole(statements, {HistoryChunk._meta.db_table}) == set()


def test_a_sample_in_an_open_minute_takes_two_statements() -> None:
    write(0, 1)

    with plans.recorded() as statements:
        write(2, 1)

    assert len([text for text in statements if "jobs_historychunk" in str(text)]) == 2

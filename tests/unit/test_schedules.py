"""When schedules are due, and what becomes of a time that has come."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from jobs import timetables
from jobs.options import InvalidOption
from jobs.timetables import Timetable
from workers import due

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def berlin(*parts: int, fold: int = 0) -> datetime:
    return datetime(*parts, tzinfo=BERLIN, fold=fold).astimezone(UTC)  # type: ignore[arg-type, misc]


def view(cron: str, next_run_at: datetime, going: str = "", grace: int = 60) -> due.ScheduleView:
    return due.ScheduleView(Timetable(cron), next_run_at, timedelta(minutes=grace), going)


# --- times


def test_the_next_time_is_one_of_its_zone() -> None:
    table = timetables.read("30  6 * * 1-5", "Europe/Berlin", NOON)
    assert table.cron == "30 6 * * 1-5"
    assert table.after(berlin(2026, 3, 6, 6, 30)) == berlin(2026, 3, 9, 6, 30)  # over a week-end


def test_an_hour_that_a_day_does_not_have_is_made_up_for_behind_it() -> None:
    daily = Timetable("30 2 * * *", BERLIN)
    assert daily.after(berlin(2026, 3, 28, 12)) == berlin(2026, 3, 29, 3, 0)
    assert daily.after(berlin(2026, 3, 29, 3, 0)) == berlin(2026, 3, 30, 2, 30)


def test_an_hour_that_a_day_has_twice_counts_once() -> None:
    daily = Timetable("30 2 * * *", BERLIN)
    first = daily.after(berlin(2026, 10, 24, 12))
    assert first == berlin(2026, 10, 25, 2, 30)
    assert daily.after(first) == berlin(2026, 10, 26, 2, 30)
    assert daily.after(berlin(2026, 10, 25, 2, 15, fold=1)) == berlin(2026, 10, 26, 2, 30)


def test_the_newest_time_that_has_passed() -> None:
    table = Timetable("*/10 * * * *")
    begun = NOON - timedelta(days=400)
    assert table.newest(begun, NOON) == NOON
    assert table.newest(begun, NOON + timedelta(minutes=9, microseconds=5)) == NOON
    assert table.newest(NOON, NOON + timedelta(minutes=9)) == NOON
    assert Timetable().newest(NOON, NOON + timedelta(days=1)) == NOON
    assert Timetable().after(NOON) is None


@pytest.mark.parametrize(
    ("cron", "zone", "why"),
    [
        ("* * * *", "UTC", "has not five fields"),
        ("0 * * * * *", "UTC", "has not five fields"),
        ("61 * * * *", "UTC", "cannot be read: Bad minute"),
        ("0 0 30 2 *", "UTC", "cron: '0 0 30 2 *'"),
        ("0 0 * * *", "Mars/Olympus", "is not known; name one like Europe/Berlin"),
        ("0 0 * * *", "../etc/passwd", "is not known"),
    ],
)
def test_what_is_no_timetable_says_why(cron: str, zone: str, why: str) -> None:
    with pytest.raises(InvalidOption, match=why.replace("*", r"\*")):
        timetables.read(cron, zone, NOON)


def test_grace_is_a_duration_that_makes_sense() -> None:
    assert timetables.grace_ms("90 s") == 90_000
    for text in ("soon", "-1 s", "32000 h"):
        with pytest.raises(InvalidOption, match="is no duration"):
            timetables.grace_ms(text)


# --- decisions


def test_nothing_before_its_time() -> None:
    assert due.decide(view("0 * * * *", NOON), NOON - timedelta(microseconds=1)) is None


def test_at_its_time_a_job_starts_and_the_next_time_is_known() -> None:
    found = due.decide(view("0 * * * *", NOON), NOON + timedelta(seconds=1))
    assert found == due.Start(NOON, NOON + timedelta(hours=1))


def test_one_that_is_due_once_has_no_next_time() -> None:
    assert due.decide(view("", NOON), NOON) == due.Start(NOON, None)


def test_while_its_job_goes_on_the_time_is_skipped_and_says_which() -> None:
    found = due.decide(view("0 * * * *", NOON, going="abc"), NOON)
    assert found == due.Skip(NOON, NOON + timedelta(hours=1), "its job abc has not ended")


def test_of_the_times_that_nobody_saw_the_newest_is_made_up_for_once() -> None:
    found = due.decide(view("0 * * * *", NOON - timedelta(hours=5)), NOON + timedelta(minutes=20))
    assert isinstance(found, due.Start)
    assert (found.at, found.following) == (NOON, NOON + timedelta(hours=1))
    assert found.why == (
        "0:20:00 late: no JobManager was there; "
        "times since 2026-03-02 07:00:00 UTC were passed over"
    )


def test_beyond_its_grace_a_time_is_missed() -> None:
    daily, late = "0 12 * * *", NOON + timedelta(minutes=61)
    found = due.decide(view(daily, NOON), late)
    assert isinstance(found, due.Miss)
    assert (found.at, found.following) == (NOON, NOON + timedelta(days=1))
    assert "1:01:00 late is more than its grace, 1:00:00" in found.why
    assert isinstance(due.decide(view(daily, NOON, grace=62), late), due.Start)


def test_without_any_grace_a_tick_is_not_too_late() -> None:
    found = due.decide(view("0 12 * * *", NOON, grace=0), NOON + timedelta(seconds=10))
    assert isinstance(found, due.Start)

"""A driver that runs and does not get on complains; one whose batch takes long does not."""

from __future__ import annotations

from headrace.runtime.vitals import Sign, Vitals

ANSWER, STALL = 30.0, 600.0


def vitals() -> Vitals:
    return Vitals(ANSWER, STALL)


def look(seen: Vitals, sign: Sign, *times: float) -> None:
    for now in times:
        seen.asked(now)
        seen.answered(sign, now)


def test_nothing_to_see_is_nothing_wrong() -> None:
    assert vitals().complaint(1e6) == ""


def test_a_jvm_that_does_not_answer() -> None:
    seen = vitals()
    look(seen, Sign(), 0)
    seen.asked(10)

    assert seen.complaint(39) == ""
    assert "JVM has not answered for 31 s" in seen.complaint(41)
    seen.answered(Sign(), 42)
    assert seen.complaint(1000) == ""


def test_a_batch_may_take_as_long_as_tasks_of_it_run() -> None:
    seen = vitals()
    look(seen, Sign(1, {"job": "processing"}), *range(0, 36_000, 2))

    assert seen.complaint(36_000) == ""


def test_a_batch_without_a_task_that_changes_nothing_is_stuck() -> None:
    seen = vitals()
    look(seen, Sign(0, {"job": "committing"}), *range(0, 602, 2))

    assert seen.complaint(600) == ""
    assert "query job has been in a batch for 602 s" in seen.complaint(602)
    look(seen, Sign(0, {"job": "next batch"}), 603)
    assert seen.complaint(604) == ""


def test_a_query_that_waits_for_data_is_not_stuck() -> None:
    seen = vitals()
    look(seen, Sign(0, {"job": "committing"}), 0)
    look(seen, Sign(), *range(2, 10_000, 2))

    assert seen.complaint(10_000) == ""


def test_of_two_queries_one_may_be_stuck() -> None:
    seen = vitals()
    for now in range(0, 700, 2):
        look(seen, Sign(0, {"stuck": "committing", "well": now}), now)

    assert "query stuck" in seen.complaint(700)


def test_a_loop_that_no_longer_goes_round() -> None:
    seen = vitals()
    seen.pulse(1, 0)
    seen.pulse(2, 500)

    assert "has stood for 601 s" in seen.complaint(601)
    seen.left(1)
    assert seen.complaint(601) == ""


def test_without_a_limit_only_the_jvm_counts() -> None:
    seen = Vitals(ANSWER, 0)
    look(seen, Sign(0, {"job": "committing"}), 0, 10_000)
    seen.pulse(1, 0)

    assert seen.complaint(20_000) == ""
    seen.asked(20_000)
    assert seen.complaint(20_031) != ""

"""A TaskManager is lost when it was silent, not when nobody listened."""

from __future__ import annotations

from workers.listening import Listening

TIMEOUT = 50.0


def look(listening: Listening, now: float, *beats: str) -> set[int]:
    """At the heartbeats of TaskManagers 0, 1, ..."""
    return listening.silent(now, dict(enumerate(beats)), TIMEOUT)


def test_silence_is_of_those_whose_heartbeat_stays_the_same() -> None:
    """Whatever their clocks say: the second one's goes backwards."""
    listening = Listening()
    answers = [look(listening, now, "12:00:00", f"11:{50 - now}:00") for now in range(0, 60, 10)]

    assert answers == [set()] * 5 + [{0}]
    assert look(listening, 60, "12:00:01", "00:00:00") == set()


def test_who_has_just_begun_listens_for_one_timeout_first() -> None:
    listening = Listening()
    answers = [look(listening, 1000 + now, "long ago") for now in range(0, 60, 10)]

    assert answers == [set()] * 5 + [{0}]


def test_after_a_gap_it_listens_anew() -> None:
    listening = Listening()
    for now in range(0, 100, 10):
        look(listening, now, "12:00")

    assert look(listening, 110, "12:00") == {0}
    assert look(listening, 136, "12:00") == set()
    assert look(listening, 160, "12:00") == set()
    assert look(listening, 185, "12:00") == set()
    assert look(listening, 186, "12:00") == {0}


def test_one_that_registers_is_listened_to_from_then_on() -> None:
    listening = Listening()
    for now in range(0, 40, 10):
        look(listening, now, "12:00")

    assert look(listening, 50, "12:00", "12:01") == {0}
    assert look(listening, 70, "12:00", "12:01") == {0}
    assert look(listening, 90, "12:00", "12:01") == {0}
    assert look(listening, 100, "12:00", "12:01") == {0, 1}

"""The example input is the data set: complete, in order, and the same each time."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from jobs.examples import flights as example
from jobs.examples.flights import Flight


@pytest.fixture(scope="module")
def flights() -> list[Flight]:
    return list(example.flights())


def test_every_flight_is_there_once(flights: list[Flight]) -> None:
    assert len(flights) == 336_776
    assert [flight.id for flight in flights] == list(range(336_776))
    assert len({flight.row for flight in flights}) == 336_776


def test_order_is_scheduled_departure(flights: list[Flight]) -> None:
    times = [flight.event_time for flight in flights]
    assert times == sorted(times)
    assert times[0] == datetime(2013, 1, 1, 10, 15, tzinfo=UTC)
    assert times[-1] == datetime(2014, 1, 1, 4, 59, tzinfo=UTC)


def test_the_first_record(flights: list[Flight]) -> None:
    assert json.loads(flights[0].encode()) == {
        "id": 0,
        "event_time": "2013-01-01T10:15:00Z",
        "year": 2013,
        "month": 1,
        "day": 1,
        "dep_time": 517,
        "sched_dep_time": 515,
        "dep_delay": 2,
        "arr_time": 830,
        "sched_arr_time": 819,
        "arr_delay": 11,
        "carrier": "UA",
        "flight": 1545,
        "tailnum": "N14228",
        "origin": "EWR",
        "dest": "IAH",
        "air_time": 227,
        "distance": 1400,
        "hour": 5,
        "minute": 15,
        "time_hour": "2013-01-01T10:00:00Z",
    }


def test_a_cancelled_flight_has_nulls(flights: list[Flight]) -> None:
    cancelled = [flight for flight in flights if flight.row.split(",")[3] == "NA"]
    assert len(cancelled) == 8_255
    record = cancelled[0].record()
    assert record["dep_time"] is None
    assert record["dep_delay"] is None
    assert record["origin"] in example.ORIGINS

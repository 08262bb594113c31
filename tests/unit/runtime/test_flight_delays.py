"""The main example: what it takes for a flight."""

from __future__ import annotations

import argparse
import json
from itertools import islice
from typing import Any

import pytest

from headrace.common.serialization import DeserializationError, DeserializationSchema
from jobs.examples import flight_delays
from jobs.examples.flights import flights

FLIGHT = {"event_time": "2013-01-01T10:15:00Z", "origin": "EWR", "dep_delay": 2}


@pytest.fixture
def schema(monkeypatch: pytest.MonkeyPatch) -> DeserializationSchema:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "broker:9092")
    options = argparse.Namespace(input="in", output="out", dead_letters="dead", bounded=False)
    return flight_delays.flights(options).deserializer


def test_real_flights_are_read(schema: DeserializationSchema) -> None:
    for flight in islice(flights(), 0, None, 97):
        assert schema.deserialize(flight.encode()).origin == flight.origin


def test_a_cancelled_flight_has_no_delay(schema: DeserializationSchema) -> None:
    assert schema.deserialize(json.dumps({**FLIGHT, "dep_delay": None}).encode()).dep_delay is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"event_time": None}, "field event_time is null"),
        ({"origin": None}, "field origin is null"),
        ({"origin": "\ud800"}, "surrogates not allowed"),
        ({"origin": "x" * 600_000}, "'x{20}' is no airport's code"),
        ({"event_time": "0001-01-01T00:00:00+14:00"}, "no INSTANT"),
        ({"event_time": "1999-12-31T23:59:59Z"}, "in the year 1999"),
        ({"event_time": "2100-01-01T00:00:00Z"}, "in the year 2100"),
        ({"event_time": "9999-12-31T23:59:59Z"}, "in the year 9999"),
        ({"dep_delay": float("inf")}, "Infinity is no JSON number"),
        ({"dep_delay": 1.7e308}, r"1.7e\+308 minutes late"),
    ],
)
def test_what_is_no_flight_is_refused(
    schema: DeserializationSchema, change: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DeserializationError, match=reason):
        schema.deserialize(json.dumps({**FLIGHT, **change}).encode())


def test_a_number_beyond_all_is_refused(schema: DeserializationSchema) -> None:
    text = json.dumps(FLIGHT).replace(": 2}", ": 1e999}")
    with pytest.raises(DeserializationError, match="inf minutes late"):
        schema.deserialize(text.encode())

"""Timestamps and times that say their zone: every format writes the same moment."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from headrace.common import Row, Types
from headrace.common.typeinfo import TypeMismatch
from headrace.datastream.formats.csv import CsvRowSerializationSchema
from headrace.datastream.formats.json import JsonRowSerializationSchema

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2024, 6, 1, 12, tzinfo=BERLIN)
IN_UTC = datetime(2024, 6, 1, 10)
ROW = Types.ROW_NAMED(["at"], [Types.SQL_TIMESTAMP()])
AVRO = """{"type": "record", "name": "R", "fields": [
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}}]}"""


@pytest.mark.parametrize("given", [NOON, IN_UTC, "2024-06-01T12:00:00+02:00"])
def test_a_timestamp_is_written_in_utc_by_every_format(given: object) -> None:
    json = JsonRowSerializationSchema.builder().with_type_info(ROW).build()
    assert json.serialize(Row(at=given)) == b'{"at":"2024-06-01T10:00:00Z"}'
    csv = CsvRowSerializationSchema.Builder(ROW).build()
    assert csv.serialize(Row(at=given)) == b'"2024-06-01 10:00:00.0"\n'


def test_avro_agrees() -> None:
    avro = pytest.importorskip("headrace.datastream.formats.avro")
    pytest.importorskip("fastavro")
    write = avro.AvroRowSerializationSchema(avro_schema_string=AVRO)
    assert write.serialize(Row(at=NOON)) == write.serialize(Row(at=IN_UTC))


def test_a_timestamp_that_no_datetime_holds_in_utc_is_refused() -> None:
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=10)))
    with pytest.raises(TypeMismatch, match="no SQL_TIMESTAMP"):
        Types.SQL_TIMESTAMP().check(first)


def test_a_time_of_day_is_in_utc_or_says_no_zone() -> None:
    declared = Types.SQL_TIME()
    for given in (time(12), time(12, tzinfo=UTC), time(12, tzinfo=ZoneInfo("UTC")), "12:00:00Z"):
        assert declared.check(given) == time(12)
        assert declared.check(given).tzinfo is None


@pytest.mark.parametrize("zone", [BERLIN, timezone(timedelta(hours=2))])
def test_a_time_of_day_elsewhere_is_refused(zone: tzinfo) -> None:
    with pytest.raises(TypeMismatch, match="not in UTC"):
        Types.SQL_TIME().check(time(12, tzinfo=zone))

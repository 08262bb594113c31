"""Records of Avro; runs where the extra `avro` is installed."""

from __future__ import annotations

import json
import pickle
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("fastavro")

from headrace.common import Configuration, Row, Types
from headrace.common.serialization import DeserializationError
from headrace.common.typeinfo import TypeInformation, TypeMismatch
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import BucketAssigner, FileSink
from headrace.datastream.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)

SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Person",
        "fields": [
            {"name": "name", "type": "string"},
            {"name": "age", "type": ["null", "int"]},
            {
                "name": "homes",
                "type": {
                    "type": "array",
                    "items": {
                        "type": "record",
                        "name": "Home",
                        "fields": [{"name": "city", "type": "string"}],
                    },
                },
            },
        ],
    }
)


def test_rows_are_written_and_read() -> None:
    writer = AvroRowSerializationSchema(avro_schema_string=SCHEMA)
    reader = pickle.loads(pickle.dumps(AvroRowDeserializationSchema(avro_schema_string=SCHEMA)))
    row = Row("Ada", None, [Row(city="London")])
    assert reader.deserialize(writer.serialize(row)) == row
    assert reader.deserialize(writer.serialize(row)).homes[0].city == "London"
    assert writer.serialize({"name": "Ada", "age": 1, "homes": []}) == b"\x06Ada\x02\x02\x00"


TYPES = [
    ("int", Types.INT(), 3),
    ("float", Types.FLOAT(), 0.10000000149011612),
    ("bytes", Types.PRIMITIVE_ARRAY(Types.BYTE()), b"ab"),
    ({"type": "map", "values": "long"}, Types.MAP(Types.STRING(), Types.LONG()), {"a": 1}),
    ({"type": "enum", "name": "E", "symbols": ["ON", "OFF"]}, Types.STRING(), "OFF"),
    ({"type": "fixed", "name": "F", "size": 2}, Types.PRIMITIVE_ARRAY(Types.BYTE()), b"ab"),
    ({"type": "int", "logicalType": "date"}, Types.SQL_DATE(), date(2021, 2, 3)),
    ({"type": "int", "logicalType": "time-millis"}, Types.SQL_TIME(), time(4, 5, 6)),
    (
        {"type": "long", "logicalType": "timestamp-millis"},
        Types.SQL_TIMESTAMP(),
        datetime(2021, 2, 3, 4, 5, 6, 7000),
    ),
    (
        {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2},
        Types.BIG_DEC(),
        Decimal("1.50"),
    ),
    ({"type": "string", "logicalType": "uuid"}, Types.STRING(), str(UUID(int=1))),
    (["null", "string"], Types.STRING(), None),
    (["string", "int"], Types.PICKLED_BYTE_ARRAY(), 5),
]


@pytest.mark.parametrize(("kind", "declared", "value"), TYPES)
def test_types_are_flinks(kind: Any, declared: TypeInformation, value: Any) -> None:
    inner = {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": kind}]}
    fields = [{"name": "one", "type": inner}, {"name": "other", "type": ["null", "Inner"]}]
    schema = json.dumps({"type": "record", "name": "T", "fields": fields})
    reader = AvroRowDeserializationSchema(avro_schema_string=schema)
    within = Types.ROW_NAMED(["x"], [declared])
    assert reader.produced_type == Types.ROW_NAMED(["one", "other"], [within, within])
    writer = AvroRowSerializationSchema(avro_schema_string=schema)
    assert reader.deserialize(writer.serialize(Row(Row(value), None))) == Row(Row(value), None)
    both = reader.deserialize(writer.serialize((Row(value), (value,))))
    assert both == Row(Row(value), Row(value))


def both_ways(kind: Any, value: Any) -> Any:
    """What is read of a field of this type after it was written."""
    fields = [{"name": "x", "type": kind}]
    schema = json.dumps({"type": "record", "name": "T", "fields": fields})
    reader = pickle.loads(pickle.dumps(AvroRowDeserializationSchema(avro_schema_string=schema)))
    assert reader.produced_type == Types.ROW_NAMED(["x"], [Types.PICKLED_BYTE_ARRAY()])
    writer = AvroRowSerializationSchema(avro_schema_string=schema)
    row = pickle.loads(pickle.dumps(reader.produced_type)).check(Row(x=value))
    assert row.x == value
    return reader.deserialize(writer.serialize(Row(x=value))).x


POINT = {"type": "record", "name": "I", "fields": [{"name": "q", "type": "int", "default": 5}]}
SIZE = {"type": "record", "name": "S", "fields": [{"name": "w", "type": "string"}]}


def test_a_record_of_a_union_is_a_row() -> None:
    for value in (Row(q=1), "text", None):
        assert both_ways(["null", "string", POINT], value) == value
    of_points = {"type": "array", "items": POINT}
    assert both_ways(["string", of_points, SIZE], [Row(q=1), Row(q=2)]) == [Row(q=1), Row(q=2)]
    of_points = {"type": "map", "values": POINT}
    assert both_ways(["string", of_points], {"a": Row(q=1)}) == {"a": Row(q=1)}


def test_which_record_of_a_union_it_is_nobody_can_say() -> None:
    assert both_ways(["string", POINT, SIZE], {"w": "wide"}) == {"w": "wide"}
    assert both_ways(["string", {"type": "map", "values": "int"}, SIZE], {"w": 1}) == {"w": 1}
    assert both_ways(["string", "T", POINT], {"q": 1}) == {"q": 1}


def test_a_default_within_a_union_is_written() -> None:
    fields = [{"name": "x", "type": ["string", POINT]}]
    schema = json.dumps({"type": "record", "name": "T", "fields": fields})
    writer = AvroRowSerializationSchema(avro_schema_string=schema)
    assert writer.serialize(Row(x={})) == b"\x02\x0a"


def test_what_does_not_fit_is_said() -> None:
    writer = AvroRowSerializationSchema(avro_schema_string=SCHEMA)
    with pytest.raises(TypeMismatch, match="does not fit its Avro schema"):
        writer.serialize(Row(5, None, []))
    with pytest.raises(TypeMismatch, match="1 fields, not 3"):
        writer.serialize(Row("Ada"))
    with pytest.raises(DeserializationError, match="no record of the Avro schema"):
        AvroRowDeserializationSchema(avro_schema_string=SCHEMA).deserialize(b"\xff")
    with pytest.raises(ValueError, match="no schema of Avro"):
        AvroSchema.parse_string('{"type": "none"}')
    with pytest.raises(TypeError, match="Avro schema of a record"):
        AvroRowSerializationSchema(avro_schema_string='"string"')
    declared = GenericRecordAvroTypeInfo(AvroSchema.parse_string(SCHEMA))
    with pytest.raises(TypeMismatch):
        declared.check({"name": 5, "age": None, "homes": []})


def test_files_are_written_and_read(tmp_path: Path) -> None:
    schema = AvroSchema.parse_string(SCHEMA)
    settings = Configuration({"headrace.executor": "in-process", "parallelism.default": "1"})
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    people = [
        {"name": "Ada", "age": 36, "homes": [{"city": "London"}]},
        {"name": "Bob", "age": None, "homes": []},
    ]
    sink = FileSink.for_bulk_format(str(tmp_path), AvroBulkWriters.for_generic_record(schema))
    sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    env.from_collection(people).sink_to(sink.build())
    env.execute()
    read = env.create_input(AvroInputFormat(str(tmp_path), schema))
    assert list(read.map(lambda person: person["name"]).execute_and_collect()) == ["Ada", "Bob"]

"""Records of Avro; runs where the extra `avro` is installed."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

pytest.importorskip("fastavro")

from headrace.common import Configuration, Row
from headrace.common.serialization import DeserializationError
from headrace.common.typeinfo import TypeMismatch
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


def test_what_does_not_fit_is_said() -> None:
    writer = AvroRowSerializationSchema(avro_schema_string=SCHEMA)
    with pytest.raises(TypeMismatch, match="does not fit its Avro schema"):
        writer.serialize(Row(5, None, []))
    with pytest.raises(TypeMismatch, match="no record of 3 fields"):
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

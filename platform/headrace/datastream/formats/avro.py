"""Records of Avro, alone and in files; PyFlink's `pyflink.datastream.formats.avro`.

Needs the package `fastavro` (the extra `headrace[avro]`). Values are dicts by the fields' names, as
PyFlink's generic records are, or Rows where a schema of rows is asked for."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from headrace.common.serialization import (
    DeserializationError,
    DeserializationSchema,
    SerializationSchema,
)
from headrace.common.type_base import TypeInformation, TypeMismatch, shown
from headrace.common.types import Row
from headrace.connectors.files.formats import PartWriter
from headrace.datastream.connectors.file_source import BulkFormat, FileSource, open_binary
from headrace.datastream.formats import avro_types

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "GenericRecordAvroTypeInfo",
]


def _fastavro() -> Any:
    try:
        import fastavro
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "records of Avro need the package fastavro: pip install 'headrace[avro]'"
        ) from error
    return fastavro


@cache
def _parsed(text: str) -> Any:
    avro = _fastavro()
    try:
        return avro.parse_schema(json.loads(text))
    except (ValueError, KeyError, avro.schema.SchemaParseException) as error:
        raise ValueError(f"no schema of Avro: {error}") from error


@dataclass(frozen=True)
class AvroSchema:
    """A schema by its text."""

    text: str

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """Raises ValueError for what is no schema."""
        schema = AvroSchema(json_schema)
        _ = schema.parsed
        return schema

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        return AvroSchema.parse_string(Path(file_path).read_text())

    @property
    def parsed(self) -> Any:
        return _parsed(self.text)

    @property
    def field_names(self) -> tuple[str, ...]:
        """Raises TypeError for a schema of something else than a record."""
        parsed = self.parsed
        if not isinstance(parsed, dict) or parsed.get("type") != "record":
            raise TypeError("rows need an Avro schema of a record")
        return tuple(field["name"] for field in parsed["fields"])


@dataclass(frozen=True)
class GenericRecordAvroTypeInfo(TypeInformation):
    """Dicts that fit a schema."""

    schema: AvroSchema

    def check(self, value: Any, where: str = "value") -> Any:
        if isinstance(value, Row):
            value = value.as_dict(True)
        from fastavro.validation import validate

        if value is not None and not validate(value, self.schema.parsed, raise_errors=False):
            raise TypeMismatch(f"{where} is {shown(value)}, which does not fit its Avro schema")
        return value

    def format(self, value: Any) -> str:
        return "null" if value is None else json.dumps(value, default=str)


class AvroRowDeserializationSchema(DeserializationSchema):
    """One record of Avro without a head, to a Row by the schema's fields."""

    def __init__(self, record_class: Any = None, avro_schema_string: str | None = None) -> None:
        self._schema = _given(record_class, avro_schema_string)
        self._type = _row_type(self._schema, reading=True)

    @property
    def produced_type(self) -> TypeInformation:
        return self._type

    def deserialize(self, data: bytes | None) -> Row | None:
        if data is None:
            return None
        try:
            found = _fastavro().schemaless_reader(io.BytesIO(data), self._schema.parsed, None)
            row: Row = self._type.check(avro_types.read(found))
        except Exception as error:  # whatever the bytes have led to
            raise DeserializationError(f"no record of the Avro schema: {error!r}") from error
        return row


class AvroRowSerializationSchema(SerializationSchema):
    """A Row (tuple, dict) of the schema's fields to one record of Avro without a head."""

    def __init__(self, record_class: Any = None, avro_schema_string: str | None = None) -> None:
        self._schema = _given(record_class, avro_schema_string)
        self._type = _row_type(self._schema)

    def serialize(self, value: Any) -> bytes:
        buffer = io.BytesIO()
        try:
            record = self._type.check(value).as_dict(recursive=True)
            _fastavro().schemaless_writer(buffer, self._schema.parsed, avro_types.written(record))
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            reason = f"{shown(value)} does not fit its Avro schema: {error!s:.120}"
            raise TypeMismatch(reason) from error
        return buffer.getvalue()


def _row_type(schema: AvroSchema, reading: bool = False) -> TypeInformation:
    """Raises TypeError for a schema of something else than a record."""
    _ = schema.field_names
    return avro_types.row_type(schema.parsed, reading)


class AvroInputFormat(FileSource):
    """Files of Avro for `StreamExecutionEnvironment.create_input`: dicts of the schema's fields."""

    def __init__(self, path: str, schema: AvroSchema) -> None:
        super().__init__((path,), _AvroFiles(schema))

    def get_produced_type(self) -> TypeInformation | None:
        return self.produced_type


@dataclass(frozen=True)
class _AvroFiles(BulkFormat):
    schema: AvroSchema

    @property
    def produced_type(self) -> TypeInformation:  # type: ignore[override]
        return GenericRecordAvroTypeInfo(self.schema)

    def read(self, path: str) -> Iterator[Any]:
        with open_binary(path) as file:
            yield from _fastavro().reader(file, self.schema.parsed)


class AvroBulkWriters:
    """For `FileSink.for_bulk_format`."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> AvroFormat:
        """Dicts, Rows or tuples of the schema's fields."""
        return AvroFormat(schema)


@dataclass(frozen=True)
class AvroFormat:
    schema: AvroSchema
    suffix: str = ".avro"

    def open(self, path: Path) -> PartWriter:
        return _Part(path, self.schema)


class _Part:
    def __init__(self, path: Path, schema: AvroSchema) -> None:
        from fastavro.write import Writer

        self._file = path.open("xb")
        self._writer = Writer(self._file, schema.parsed)
        self._names = schema.field_names

    def write(self, value: Any) -> None:
        self._writer.write(as_record(value, self._names))

    def size(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._writer.flush()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


def as_record(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Raises TypeMismatch for what has other fields."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, Row | tuple | list) or len(value) != len(names):
        raise TypeMismatch(f"{shown(value)} is no record of {len(names)} fields")
    return {name: _plain(each) for name, each in zip(names, value, strict=True)}


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(True)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _given(record_class: Any, text: str | None) -> AvroSchema:
    if record_class is not None:
        raise NotImplementedError("record classes are Java's; give the schema as text")
    if text is None:
        raise ValueError("an Avro schema is needed: avro_schema_string")
    return AvroSchema.parse_string(text)

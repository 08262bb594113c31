"""The declared type of what an Avro schema describes, as Flink reads it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from headrace.common.type_base import TypeInformation
from headrace.common.typeinfo import Types

_BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
_BASIC = {
    "boolean": Types.BOOLEAN(),
    "bytes": _BYTES,
    "double": Types.DOUBLE(),
    "enum": Types.STRING(),
    "fixed": _BYTES,
    "float": Types.FLOAT(),
    "int": Types.INT(),
    "long": Types.LONG(),
    "string": Types.STRING(),
}
_LOGICAL = {
    "date": Types.SQL_DATE(),
    "decimal": Types.BIG_DEC(),
    "local-timestamp-micros": Types.SQL_TIMESTAMP(),
    "local-timestamp-millis": Types.SQL_TIMESTAMP(),
    "time-micros": Types.SQL_TIME(),
    "time-millis": Types.SQL_TIME(),
    "timestamp-micros": Types.SQL_TIMESTAMP(),
    "timestamp-millis": Types.SQL_TIMESTAMP(),
}


def row_type(schema: Any) -> TypeInformation:
    """Of a parsed schema. What has no one type (a union of several, a record within itself) is any
    Python value."""
    return _type(schema, {})


def _type(schema: Any, known: dict[str, TypeInformation]) -> TypeInformation:
    if isinstance(schema, str):
        return _BASIC.get(schema) or known.get(schema) or Types.PICKLED_BYTE_ARRAY()
    if isinstance(schema, list):
        others = [each for each in schema if each != "null"]
        return _type(others[0], known) if len(others) == 1 else Types.PICKLED_BYTE_ARRAY()
    found = _of(schema, known)
    if "name" in schema:
        known[schema["name"]] = found
    return found


def _of(schema: dict[str, Any], known: dict[str, TypeInformation]) -> TypeInformation:
    match schema["type"]:
        case "record":
            fields = schema["fields"]
            kinds = [_type(field["type"], known) for field in fields]
            return Types.ROW_NAMED([field["name"] for field in fields], kinds)
        case "array":
            return Types.OBJECT_ARRAY(_type(schema["items"], known))
        case "map":
            return Types.MAP(Types.STRING(), _type(schema["values"], known))
        case kind:
            return _LOGICAL.get(schema.get("logicalType", "")) or _type(kind, known)


def read(value: Any) -> Any:
    """What fastavro gives, with times in UTC that do not say so, as Flink's, and ids as text."""
    if isinstance(value, dict):
        return {key: read(each) for key, each in value.items()}
    if isinstance(value, list):
        return [read(each) for each in value]
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return str(value) if isinstance(value, UUID) else value


def written(value: Any) -> Any:
    """The reverse: a time without a zone is in UTC, not in the machine's."""
    if isinstance(value, dict):
        return {key: written(each) for key, each in value.items()}
    if isinstance(value, list):
        return [written(each) for each in value]
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value

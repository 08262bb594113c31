"""The declared type of what an Avro schema describes, as Flink reads it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from headrace.common.basic_types import BasicTypeInfo, basic
from headrace.common.type_base import TypeInformation
from headrace.common.typeinfo import MapTypeInfo, ObjectArrayTypeInfo, RowTypeInfo, Types

_ANY = basic("PICKLED_BYTE_ARRAY")
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


@dataclass(frozen=True, eq=False)
class _Union(BasicTypeInfo):
    """Any Python value, declared as such; a dict or list has the type of the one branch that reads
    as one, so that its records are Rows, too."""

    dicts: TypeInformation = _ANY
    lists: TypeInformation = _ANY

    def check(self, value: Any, where: str = "value") -> Any:
        if isinstance(value, dict):
            return self.dicts.check(value, where)
        return self.lists.check(value, where) if isinstance(value, list) else value

    def __reduce__(self) -> tuple[Any, ...]:
        return _union, (self.dicts, self.lists)


def _union(dicts: TypeInformation, lists: TypeInformation) -> _Union:
    return _Union(_ANY.name, _ANY.convert, dicts=dicts, lists=lists)


def row_type(schema: Any, reading: bool = False) -> TypeInformation:
    """Of a parsed schema. What has no one type (a union of several, a record within itself) is any
    Python value; `reading`: with Rows in unions that have one record and no map."""
    return _Types(reading).of(schema)


class _Types:
    def __init__(self, reading: bool) -> None:
        self._reading = reading
        self._known: dict[str, TypeInformation] = {}

    def of(self, schema: Any) -> TypeInformation:
        if isinstance(schema, str):
            return _BASIC.get(schema) or self._known.get(schema) or _ANY
        if isinstance(schema, list):
            return self._one_of([self.of(each) for each in schema if each != "null"])
        found = self._of(schema)
        if "name" in schema:
            self._known[schema["name"]] = found
        return found

    def _one_of(self, kinds: list[TypeInformation]) -> TypeInformation:
        if len(kinds) == 1:
            return kinds[0]
        if not self._reading:
            return _ANY
        # what is any value is a record that is not known yet
        dicts = [k for k in kinds if isinstance(k, RowTypeInfo | MapTypeInfo) or k == _ANY]
        lists = [k for k in kinds if isinstance(k, ObjectArrayTypeInfo)]
        return _union(*(one[0] if len(one) == 1 else _ANY for one in (dicts, lists)))

    def _of(self, schema: dict[str, Any]) -> TypeInformation:
        match schema["type"]:
            case "record":
                fields = schema["fields"]
                kinds = [self.of(field["type"]) for field in fields]
                return Types.ROW_NAMED([field["name"] for field in fields], kinds)
            case "array":
                return Types.OBJECT_ARRAY(self.of(schema["items"]))
            case "map":
                return Types.MAP(Types.STRING(), self.of(schema["values"]))
            case kind:
                return _LOGICAL.get(schema.get("logicalType", "")) or self.of(kind)


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

"""Rows as JSON; PyFlink's `pyflink.datastream.formats.json`."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from headrace.common.serialization import (
    DeserializationError,
    DeserializationSchema,
    SerializationSchema,
)
from headrace.common.time import Instant
from headrace.common.typeinfo import RowTypeInfo, TypeInformation, TypeMismatch
from headrace.common.types import Row
from headrace.datastream.formats.csv_rows import row_type
from headrace.datastream.formats.json_schema import type_of_schema

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]


class JsonRowDeserializationSchema(DeserializationSchema):
    """A JSON object to a Row of the declared type; fields not declared are left out."""

    def __init__(
        self,
        type_info: RowTypeInfo,
        fail_on_missing_field: bool,
        ignore_parse_errors: bool,
        validation: Callable[[Row], None] | None = None,
    ) -> None:
        self._type = type_info
        self._fail_on_missing_field = fail_on_missing_field
        self._ignore_parse_errors = ignore_parse_errors
        self._validation = validation

    @property
    def produced_type(self) -> TypeInformation:
        return self._type

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        return JsonRowDeserializationSchema.Builder()

    def deserialize(self, data: bytes | None) -> Row | None:
        """None for bytes that cannot be read, if parse errors are ignored."""
        try:
            return self._read(data)
        except DeserializationError:
            if self._ignore_parse_errors:
                return None
            raise

    def _read(self, data: bytes | None) -> Row:
        values = _parse(data)
        if not isinstance(values, dict):
            raise DeserializationError(f"a JSON {type(values).__name__}, not an object")
        if self._fail_on_missing_field:
            missing = [name for name in self._type.field_names if name not in values]
            if missing:
                raise DeserializationError(f"no field {', '.join(map(repr, missing))}")
        try:
            row: Row = self._type.check(values)
            if self._validation is not None:
                self._validation(row)
        except (TypeMismatch, ValueError) as error:
            raise DeserializationError(str(error)) from error
        return row

    class Builder:
        def __init__(self) -> None:
            self._type: RowTypeInfo | None = None
            self._fail_on_missing_field = False
            self._ignore_parse_errors = False
            self._validation: Callable[[Row], None] | None = None

        def type_info(self, type_info: TypeInformation) -> JsonRowDeserializationSchema.Builder:
            self._type = row_type(type_info)
            return self

        def json_schema(self, json_schema: str) -> JsonRowDeserializationSchema.Builder:
            """The type that a JSON schema describes."""
            return self.type_info(type_of_schema(json_schema))

        def fail_on_missing_field(self) -> JsonRowDeserializationSchema.Builder:
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self) -> JsonRowDeserializationSchema.Builder:
            self._ignore_parse_errors = True
            return self

        def validate(
            self, validation: Callable[[Row], None]
        ) -> JsonRowDeserializationSchema.Builder:
            """Headrace's own: `validation` is called with each row, and raises ValueError, saying
            why, for one that fits its type and makes no sense. That is a parse error like any."""
            self._validation = validation
            return self

        def build(self) -> JsonRowDeserializationSchema:
            if self._type is None:
                raise ValueError("a JsonRowDeserializationSchema needs type_info")
            if self._fail_on_missing_field and self._ignore_parse_errors:
                raise ValueError("fail_on_missing_field and ignore_parse_errors exclude each other")
            return JsonRowDeserializationSchema(
                self._type, self._fail_on_missing_field, self._ignore_parse_errors, self._validation
            )


class JsonRowSerializationSchema(SerializationSchema):
    """A Row (or tuple) of the declared type to a JSON object."""

    def __init__(self, type_info: RowTypeInfo) -> None:
        self._type = type_info

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        return JsonRowSerializationSchema.Builder()

    def serialize(self, value: Any) -> bytes:
        if value is None:
            raise TypeMismatch("the value is None, no row")
        row: Row = self._type.check(value)
        content = row.as_dict(recursive=True)
        text = json.dumps(
            content, ensure_ascii=False, separators=(",", ":"), default=_plain, allow_nan=False
        )
        return text.encode()

    class Builder:
        def __init__(self) -> None:
            self._type: RowTypeInfo | None = None

        def with_type_info(self, type_info: TypeInformation) -> JsonRowSerializationSchema.Builder:
            self._type = row_type(type_info)
            return self

        def build(self) -> JsonRowSerializationSchema:
            if self._type is None:
                raise ValueError("a JsonRowSerializationSchema needs with_type_info")
            return JsonRowSerializationSchema(self._type)


def _parse(data: bytes | None) -> Any:
    """The JSON in `data`, as it can be written again: finite numbers, text that UTF-8 holds."""
    if data is None:
        raise DeserializationError("the record has no value")
    try:
        text = data.decode(json.detect_encoding(data))
        values = json.loads(text, parse_constant=_no_number, parse_float=_finite)
        if r"\ud" in text or r"\uD" in text:
            json.dumps(values, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise DeserializationError(f"not JSON: {error}") from error
    return values


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:80]} is too large a number")
    return number


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _plain(value: Any) -> Any:
    """What JSON has no form for."""
    if isinstance(value, Instant):
        at = datetime.fromtimestamp(value.seconds, UTC)
        fraction = f".{value.nanos:09d}".rstrip("0") if value.nanos else ""
        return f"{at:%Y-%m-%dT%H:%M:%S}{fraction}Z"
    if isinstance(value, Row):
        return value.as_dict()
    if isinstance(value, datetime):
        return f"{value.isoformat()}Z" if value.tzinfo is None else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return f"{value.isoformat()}Z"
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"a {type(value).__name__} has no form in JSON")

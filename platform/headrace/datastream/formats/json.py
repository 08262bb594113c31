"""Rows as JSON; PyFlink's `pyflink.datastream.formats.json`."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any

from headrace.common.basic_types import basic
from headrace.common.serialization import (
    DeserializationError,
    DeserializationSchema,
    SerializationSchema,
)
from headrace.common.typeinfo import RowTypeInfo, TypeInformation, TypeMismatch
from headrace.common.types import Row
from headrace.datastream.formats.csv_rows import row_type
from headrace.datastream.formats.json_reading import Reading
from headrace.datastream.formats.json_schema import type_of_schema
from headrace.datastream.formats.json_writing import writer

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


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
        self._reading = Reading(fail_on_missing_field, ignore_parse_errors)
        self._validation = validation
        self._row = self._reading.row(type_info)
        self._exact = _has_decimals(type_info)

    def __reduce__(self) -> tuple[Any, ...]:
        given = self._reading
        flags = (given.fail_on_missing_field, given.ignore_parse_errors)
        return type(self), (self._type, *flags, self._validation)

    @property
    def produced_type(self) -> TypeInformation:
        return self._type

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        return JsonRowDeserializationSchema.Builder()

    def deserialize(self, data: bytes | None) -> Row | None:
        """None for JSON's null, and for bytes that cannot be read, if parse errors are ignored."""
        try:
            return self._read(data)
        except DeserializationError:
            if self._reading.ignore_parse_errors:
                return None
            raise

    def _read(self, data: bytes | None) -> Row | None:
        values = _parse(data, _exact if self._exact else None)
        if values is None:
            return None
        if not isinstance(values, dict):
            raise DeserializationError(f"a JSON {type(values).__name__}, not an object")
        try:
            row: Row = self._row(values)
            if self._validation is not None:
                self._validation(row)
        except ValueError as error:
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
            """A field that does not fit is None (the record is left out where the field is
            NOT_NULL), and a record that is no JSON is left out."""
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
        self._write = writer(type_info)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._type,)

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        return JsonRowSerializationSchema.Builder()

    def serialize(self, value: Any) -> bytes:
        if value is None:
            raise TypeMismatch("the value is None, no row")
        return self._write(self._type.check(value)).encode()

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


def _parse(data: bytes | None, number: Callable[[str], Any] | None) -> Any:
    """The JSON in `data`; `number` makes numbers with a fraction or an exponent. Texts are such
    that UTF-8 holds them."""
    if data is None:
        raise DeserializationError("the record has no value")
    try:
        text = data.decode(json.detect_encoding(data))
        values = json.loads(text, parse_constant=_no_number, parse_float=number)
        if r"\ud" in text or r"\uD" in text:
            json.dumps(values, ensure_ascii=False, default=str).encode()
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise DeserializationError(f"not JSON: {error}") from error
    return values


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _exact(text: str) -> Decimal:
    """Without zeros at its end, as Flink reads it."""
    return Decimal(text).normalize(_EXACT)


def _has_decimals(kind: Any) -> bool:
    """Whether somewhere in the type there are decimals, whose digits all count."""
    if kind == basic("BIG_DEC"):
        return True
    parts = [*getattr(kind, "field_types", ())]
    for name in ("elem_type", "type_info", "key_type", "value_type"):
        part = getattr(kind, name, None)
        if isinstance(part, TypeInformation):
            parts.append(part)
    return any(map(_has_decimals, parts))

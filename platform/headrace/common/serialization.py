"""Values to bytes and back; PyFlink's `pyflink.common.serialization`."""

from __future__ import annotations

import abc
import importlib
from typing import Any

from headrace.common.basic_types import basic
from headrace.common.type_base import TypeInformation, TypeMismatch, shown
from headrace.common.types import Row


class DeserializationError(ValueError):
    """The bytes of a record are not what its schema says."""


class SerializationSchema(abc.ABC):
    """Turns values into bytes. Called in order, once per record, on executors."""

    @abc.abstractmethod
    def serialize(self, value: Any) -> bytes | None:
        """The bytes of a value; None is Kafka's tombstone. Any error fails the job."""


class DeserializationSchema(abc.ABC):
    """Turns bytes into values. Called in order, once per record, on executors."""

    @property
    def produced_type(self) -> TypeInformation | None:
        """What the values are declared to be; None for any Python value."""
        return None

    @abc.abstractmethod
    def deserialize(self, data: bytes | None) -> Any:
        """The value; raises DeserializationError for bytes it cannot read."""


class SimpleStringSchema(SerializationSchema, DeserializationSchema):
    """Strings in a character set, UTF-8 unless told otherwise."""

    def __init__(self, charset: str = "UTF-8") -> None:
        "".encode(charset)
        self._charset = charset

    @property
    def produced_type(self) -> TypeInformation:
        return basic("STRING")

    def serialize(self, value: Any) -> bytes:
        return str(value).encode(self._charset)

    def deserialize(self, data: bytes | None) -> str | None:
        try:
            return None if data is None else data.decode(self._charset)
        except UnicodeDecodeError as error:
            raise DeserializationError(f"not {self._charset} text: {error}") from error


class ByteArraySchema(SerializationSchema, DeserializationSchema):
    """Bytes as they are."""

    def serialize(self, value: Any) -> bytes:
        return bytes(value)

    def deserialize(self, data: bytes | None) -> bytes | None:
        return data


class RowFieldExtractorSchema(SerializationSchema):
    """The bytes in one field of a Row or tuple: a record's key, for instance."""

    def __init__(self, field_index: int) -> None:
        if field_index < 0:
            raise ValueError(f"Field index must be non-negative, not {field_index}")
        self._field_index = field_index

    def serialize(self, value: Any) -> bytes | None:
        """Raises TypeMismatch for what has no such field, or no bytes in it."""
        if not isinstance(value, Row | tuple) or len(value) <= self._field_index:
            raise TypeMismatch(f"{shown(value)} has no field {self._field_index}")
        found = value[self._field_index]
        if not isinstance(found, bytes | bytearray | None):
            raise TypeMismatch(f"field {self._field_index} is {shown(found)}, not bytes")
        return None if found is None else bytes(found)


class Encoder:
    """How a file sink writes a value."""

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> SimpleStringSchema:
        return SimpleStringSchema(charset_name)


def __getattr__(name: str) -> Any:
    """PyFlink 1 had the formats' schemas here."""
    package = importlib.import_module("headrace.common")
    if name not in package.FORMATS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(package, name)

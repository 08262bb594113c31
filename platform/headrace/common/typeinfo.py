"""Type information: what a stream's values are declared to be; PyFlink's `common.typeinfo`.

A declared type is semantic: it decides how a value prints and how JSON is checked and read.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from headrace.common.time import Instant
from headrace.common.types import Row


class TypeMismatch(TypeError):
    """A value does not fit the type that was declared for it."""


def _shown(value: object) -> str:
    """As error messages show it: they become headers, log lines and cells of a page."""
    return repr(value)[:80]


class TypeInformation:
    """Base of all declared types."""

    def check(self, value: Any, where: str = "value") -> Any:
        """The value as this type holds it; TypeMismatch, naming `where`, if it cannot."""
        return value

    def format(self, value: Any) -> str:
        """As `print` shows it."""
        return str(value)

    def collected(self, value: Any) -> Any:
        """As `execute_and_collect` hands it over: rows come without names."""
        return value


@dataclass(frozen=True)
class BasicTypeInfo(TypeInformation):
    """A value of one of Flink's basic types; `None` is a value of each of them."""

    name: str
    convert: Callable[[Any], Any]

    def check(self, value: Any, where: str = "value") -> Any:
        if value is None:
            return None
        try:
            return self.convert(value)
        except (TypeError, ValueError, OverflowError, struct.error) as error:
            raise TypeMismatch(
                f"{where} is {_shown(value)}, which is no {self.name}: {str(error)[:80]}"
            ) from error

    def __reduce__(self) -> tuple[Any, ...]:
        return _basic, (self.name,)

    def format(self, value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)


def _whole(bits: int) -> Callable[[Any], int]:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def convert(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
            raise TypeError("not a whole number")
        if not low <= value <= high:
            raise ValueError(f"outside {low}..{high}")
        return int(value)

    return convert


def _real(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("not a number")
    return float(value)


def _single(value: Any) -> float:
    return float(struct.unpack("f", struct.pack("f", _real(value)))[0])


def _instance(*kinds: type) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if not isinstance(value, kinds):
            raise TypeError(f"it is a {type(value).__name__}")
        return value

    return convert


def _instant(value: Any) -> Instant:
    """An Instant, or text in ISO 8601 with a time zone, as JSON carries it."""
    if isinstance(value, Instant):
        return value
    if not isinstance(value, str):
        raise TypeError(f"it is a {type(value).__name__}")
    time = datetime.fromisoformat(value)
    if time.tzinfo is None:
        raise ValueError("it has no time zone")
    since = time.astimezone(UTC) - _EPOCH
    return Instant(since.days * 86_400 + since.seconds, since.microseconds * 1000)


def _anything(value: Any) -> Any:
    return value


_EPOCH = datetime.fromtimestamp(0, UTC)
_BASIC: dict[str, BasicTypeInfo] = {
    info.name: info
    for info in (
        BasicTypeInfo("STRING", _instance(str)),
        BasicTypeInfo("BOOLEAN", _instance(bool)),
        BasicTypeInfo("BYTE", _whole(8)),
        BasicTypeInfo("SHORT", _whole(16)),
        BasicTypeInfo("INT", _whole(32)),
        BasicTypeInfo("LONG", _whole(64)),
        BasicTypeInfo("FLOAT", _single),
        BasicTypeInfo("DOUBLE", _real),
        BasicTypeInfo("CHAR", _instance(str)),
        BasicTypeInfo("BIG_INT", _instance(int)),
        BasicTypeInfo("INSTANT", _instant),
        BasicTypeInfo("PICKLED_BYTE_ARRAY", _anything),
    )
}


def _basic(name: str) -> BasicTypeInfo:
    return _BASIC[name]


@dataclass(frozen=True)
class TupleTypeInfo(TypeInformation):
    """A Python tuple with one declared type per position."""

    field_types: tuple[TypeInformation, ...]

    def get_field_types(self) -> list[TypeInformation]:
        return list(self.field_types)

    def check(self, value: Any, where: str = "value") -> Any:
        if not isinstance(value, tuple) or len(value) != len(self.field_types):
            raise TypeMismatch(f"{where} is {_shown(value)}, no tuple of {len(self.field_types)}")
        pairs = zip(self.field_types, value, strict=True)
        return tuple(kind.check(v, f"{where}[{i}]") for i, (kind, v) in enumerate(pairs))

    def format(self, value: Any) -> str:
        pairs = zip(self.field_types, value, strict=True)
        return f"({','.join(kind.format(v) for kind, v in pairs)})"


@dataclass(frozen=True)
class RowTypeInfo(TypeInformation):
    """A `Row` with declared fields."""

    field_types: tuple[TypeInformation, ...]
    field_names: tuple[str, ...]

    def get_field_names(self) -> list[str]:
        return list(self.field_names)

    def get_field_types(self) -> list[TypeInformation]:
        return list(self.field_types)

    def get_field_index(self, field_name: str) -> int:
        return self.field_names.index(field_name)

    def check(self, value: Any, where: str = "value") -> Any:
        if value is None:
            return None
        if isinstance(value, dict):
            given = [value.get(name) for name in self.field_names]
        elif isinstance(value, Row | tuple | list):
            given = list(value)
        else:
            raise TypeMismatch(f"{where} is {_shown(value)}, no row")
        if len(given) != len(self.field_types):
            raise TypeMismatch(f"{where} has {len(given)} fields, not {len(self.field_types)}")
        fields = zip(self.field_types, self.field_names, given, strict=True)
        prefix = "field " if where == "value" else f"{where}."
        checked = (kind.check(v, prefix + name) for kind, name, v in fields)
        return Row._named(self.field_names, checked)

    def format(self, value: Any) -> str:
        if value is None:
            return str(value)
        pairs = zip(self.field_types, value, strict=True)
        kind = value.get_row_kind() if isinstance(value, Row) else "+I"
        return f"{kind}[{', '.join(kind_.format(v) for kind_, v in pairs)}]"


@dataclass(frozen=True)
class ListTypeInfo(TypeInformation):
    """A list of values of one type."""

    elem_type: TypeInformation

    def check(self, value: Any, where: str = "value") -> Any:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise TypeMismatch(f"{where} is {_shown(value)}, no list")
        return [self.elem_type.check(v, f"{where}[{i}]") for i, v in enumerate(value)]


@dataclass(frozen=True)
class MapTypeInfo(TypeInformation):
    """A dict from values of one type to values of another."""

    key_type: TypeInformation
    value_type: TypeInformation

    def check(self, value: Any, where: str = "value") -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise TypeMismatch(f"{where} is {_shown(value)}, no map")
        keys = (self.key_type.check(k, f"key of {where}") for k in value)
        values = (self.value_type.check(v, f"{where}[{_shown(k)}]") for k, v in value.items())
        return dict(zip(keys, values, strict=True))


@dataclass(frozen=True)
class NotNullTypeInfo(TypeInformation):
    """A value of another type that is never `None`."""

    type_info: TypeInformation

    def check(self, value: Any, where: str = "value") -> Any:
        if value is None:
            raise TypeMismatch(f"{where} is null")
        return self.type_info.check(value, where)

    def format(self, value: Any) -> str:
        return self.type_info.format(value)


class Types:
    """PyFlink's shortcuts for declared types, and `NOT_NULL`."""

    @staticmethod
    def NOT_NULL(type_info: TypeInformation) -> TypeInformation:
        """Headrace's own: every other type takes `None`."""
        return NotNullTypeInfo(type_info)

    @staticmethod
    def STRING() -> TypeInformation:
        return _BASIC["STRING"]

    @staticmethod
    def BOOLEAN() -> TypeInformation:
        return _BASIC["BOOLEAN"]

    @staticmethod
    def BYTE() -> TypeInformation:
        return _BASIC["BYTE"]

    @staticmethod
    def SHORT() -> TypeInformation:
        return _BASIC["SHORT"]

    @staticmethod
    def INT() -> TypeInformation:
        return _BASIC["INT"]

    @staticmethod
    def LONG() -> TypeInformation:
        return _BASIC["LONG"]

    @staticmethod
    def FLOAT() -> TypeInformation:
        return _BASIC["FLOAT"]

    @staticmethod
    def DOUBLE() -> TypeInformation:
        return _BASIC["DOUBLE"]

    @staticmethod
    def CHAR() -> TypeInformation:
        return _BASIC["CHAR"]

    @staticmethod
    def BIG_INT() -> TypeInformation:
        return _BASIC["BIG_INT"]

    @staticmethod
    def INSTANT() -> TypeInformation:
        return _BASIC["INSTANT"]

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:
        return _BASIC["PICKLED_BYTE_ARRAY"]

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TypeInformation:
        return TupleTypeInfo(tuple(field_types))

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> TypeInformation:
        names = tuple(f"f{i}" for i in range(len(field_types)))
        return RowTypeInfo(tuple(field_types), names)

    @staticmethod
    def ROW_NAMED(
        field_names: Sequence[str], field_types: Sequence[TypeInformation]
    ) -> TypeInformation:
        if len(field_names) != len(field_types):
            raise ValueError(f"{len(field_names)} names for {len(field_types)} types")
        return RowTypeInfo(tuple(field_types), tuple(field_names))

    @staticmethod
    def LIST(element_type_info: TypeInformation) -> TypeInformation:
        return ListTypeInfo(element_type_info)

    @staticmethod
    def MAP(key_type: TypeInformation, value_type: TypeInformation) -> TypeInformation:
        return MapTypeInfo(key_type, value_type)

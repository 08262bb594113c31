"""What `json.loads` has given -> values of declared types, as Flink reads them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from headrace.common import java_text
from headrace.common.basic_types import BasicTypeInfo, basic
from headrace.common.composite_types import (
    BasicArrayTypeInfo,
    DataclassTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    NotNullTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
)
from headrace.common.time import Instant
from headrace.common.type_base import TypeInformation, TypeMismatch, shown
from headrace.common.types import Row

Read = Callable[[Any], Any]

_WHOLE = {"BYTE": 8, "SHORT": 16, "INT": 32, "LONG": 64}
_ELEMENTS = (ListTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)


@dataclass
class Misfit(ValueError):
    """What in the JSON does not fit, and why."""

    reason: str
    path: str = ""

    def __str__(self) -> str:
        where = f"field {self.path.removeprefix('.')}" if self.path else "the object"
        return f"{where} {self.reason}"

    def within(self, step: str) -> Misfit:
        self.path = step + self.path
        return self


@dataclass(frozen=True)
class Reading:
    """How strictly a schema reads: whether every field has to be there, and whether one that does
    not fit is null instead of an error (but where the type is NOT_NULL)."""

    fail_on_missing_field: bool = False
    ignore_parse_errors: bool = False

    def reader(self, kind: TypeInformation) -> Read:
        """A value of JSON -> a value of the type. Raises Misfit."""
        read = self._of(kind)
        if not self.ignore_parse_errors or isinstance(kind, NotNullTypeInfo):
            return read

        def lenient(value: Any) -> Any:
            try:
                return read(value)
            except Misfit:
                return None

        return lenient

    def _of(self, kind: TypeInformation) -> Read:
        match kind:
            case NotNullTypeInfo():
                return _not_null(self._of(kind.type_info))
            case ExternalTypeInfo():
                return self._of(kind.type_info)
            case RowTypeInfo():
                return self.row(kind)
            case DataclassTypeInfo():
                return self._instance(kind)
            case TupleTypeInfo():
                return self._tuple(kind)
            case MapTypeInfo():
                return self._map(kind)
            case PrimitiveArrayTypeInfo() if kind.elem_type == basic("BYTE"):
                return _leaf(kind, _bytes)
            case _ if isinstance(kind, _ELEMENTS):
                return self._elements(kind)
            case BasicTypeInfo() if kind.name in _WHOLE:
                return _whole(kind, _WHOLE[kind.name])
            case BasicTypeInfo() if kind.name in _CONVERT:
                return _leaf(kind, _CONVERT[kind.name])
        return _leaf(kind, lambda value: value)

    def row(self, kind: RowTypeInfo) -> Read:
        names = kind.field_names
        return self._of_fields(names, kind.field_types, lambda v: Row._named(names, v))

    def _instance(self, kind: DataclassTypeInfo) -> Read:
        names, cls = kind.field_names, kind.cls

        def make(values: list[Any]) -> Any:
            try:
                return cls(**dict(zip(names, values, strict=True)))
            except Exception as error:  # whatever its own checks raise
                reason = f"makes no {cls.__name__}: {type(error).__name__}: {error!s:.80}"
                raise Misfit(reason) from error

        return self._of_fields(names, kind.field_types, make)

    def _of_fields(
        self,
        names: Sequence[str],
        kinds: Sequence[TypeInformation],
        make: Callable[[list[Any]], Any],
    ) -> Read:
        fields = [(name, self.reader(kind)) for name, kind in zip(names, kinds, strict=True)]
        wanted = frozenset(names) if self.fail_on_missing_field else frozenset()

        def read(value: Any) -> Any:
            if type(value) is not dict:
                if value is None:
                    return None
                raise Misfit(f"is {shown(value)}, no object")
            if not wanted <= value.keys():
                missing = [repr(name) for name in names if name not in value]
                raise Misfit(f"has no field {', '.join(missing)}")
            get = value.get
            try:
                return make([each(get(name)) for name, each in fields])
            except Misfit:  # once more, to say which field it is
                for name, each in fields:
                    _at(f".{name}", each, get(name))
                raise

        return read

    def _tuple(self, kind: TupleTypeInfo) -> Read:
        names = [f"f{at}" for at in range(len(kind.field_types))]
        of_object = self._of_fields(names, kind.field_types, tuple)

        def read(value: Any) -> Any:
            if isinstance(value, list) and len(value) == len(names):
                value = dict(zip(names, value, strict=True))
            return of_object(value)

        return read

    def _elements(self, kind: Any) -> Read:
        each = self.reader(kind.elem_type)
        full = isinstance(kind, PrimitiveArrayTypeInfo)

        def read(value: Any) -> Any:
            if value is None:
                return None
            if type(value) is not list:
                raise Misfit(f"is {shown(value)}, no array")
            try:
                found = [each(element) for element in value]
            except Misfit:
                for at, element in enumerate(value):
                    _at(f"[{at}]", each, element)
                raise
            if full and None in found:
                raise Misfit("is null", f"[{found.index(None)}]")
            return found

        return read

    def _map(self, kind: MapTypeInfo) -> Read:
        key, each = self._of(kind.key_type), self.reader(kind.value_type)

        def read(value: Any) -> Any:
            if value is None:
                return None
            if type(value) is not dict:
                raise Misfit(f"is {shown(value)}, no map")
            return {key(k): _at(f"[{shown(k)}]", each, v) for k, v in value.items()}

        return read


def _at(step: str, read: Read, value: Any) -> Any:
    try:
        return read(value)
    except Misfit as misfit:
        raise misfit.within(step) from None


def _not_null(read: Read) -> Read:
    def full(value: Any) -> Any:
        found = read(value)
        if found is None:
            raise Misfit("is null")
        return found

    return full


def _leaf(kind: TypeInformation, convert: Read) -> Read:
    check, exact = kind.check, getattr(kind, "exact", None)
    name = getattr(kind, "name", kind)

    def read(value: Any) -> Any:
        if value is None or type(value) is exact:
            return value
        try:
            return check(convert(value))
        except TypeMismatch as error:
            raise Misfit(str(error).removeprefix("value ")) from None
        except (ValueError, ArithmeticError) as error:
            raise Misfit(f"is {shown(value)}, which is no {name}: {error!s:.80}") from None

    return read


def _whole(kind: BasicTypeInfo, bits: int) -> Read:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    other = _leaf(kind, _number(int))

    def read(value: Any) -> Any:
        return value if type(value) is int and low <= value <= high else other(value)

    return read


def _number(of_text: Callable[[str], Any]) -> Read:
    """Numbers may stand in texts."""

    def convert(value: Any) -> Any:
        if isinstance(value, Decimal):  # where the type has decimals beside
            whole = of_text is int and value.adjusted() < 100 and value == int(value)
            return int(value) if whole else float(value)
        if not isinstance(value, str):
            return value
        if "_" in value or not value.isascii():  # Python would take it
            raise ValueError("not a number")
        return of_text(value.strip())

    return convert


def _text(value: Any) -> Any:
    """Whatever stands where a text was declared, as text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return java_text.double(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=float)
    return str(value)


def _boolean(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return {"true": True, "false": False}.get(value.lower(), value)


def _decimal(value: Any) -> Any:
    found = _number(Decimal)(value) if isinstance(value, str) else value
    if isinstance(found, Decimal) and not found.is_finite():
        raise ValueError("not a number")
    return found


def _instant(value: Any) -> Any:
    """Text, or seconds, both of the same years."""
    if type(value) is not int:
        return value
    if not -62_135_596_800 <= value <= 253_402_300_799:
        raise ValueError("outside the years 1 to 9999")
    return Instant(value, 0)


def _bytes(value: Any) -> Any:
    return base64.b64decode(value, validate=True) if isinstance(value, str) else value


_CONVERT: dict[str, Read] = {
    "STRING": _text,
    "BOOLEAN": _boolean,
    "FLOAT": _number(float),
    "DOUBLE": _number(float),
    "BIG_INT": _number(int),
    "BIG_DEC": _decimal,
    "INSTANT": _instant,
}

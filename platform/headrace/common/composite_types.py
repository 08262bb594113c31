"""Types of values that hold values."""

from __future__ import annotations

import array
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from headrace.common.basic_types import basic
from headrace.common.type_base import TypeInformation, TypeMismatch, shown
from headrace.common.types import Row, RowKind


@dataclass(frozen=True)
class TupleTypeInfo(TypeInformation):
    """A Python tuple with one declared type per position."""

    field_types: tuple[TypeInformation, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "field_types", tuple(self.field_types))

    def get_field_types(self) -> list[TypeInformation]:
        return list(self.field_types)

    def check(self, value: Any, where: str = "value") -> Any:
        kinds = self.field_types
        if value is None:
            return None
        if not isinstance(value, tuple | list | Row) or len(value) != len(kinds):
            raise TypeMismatch(f"{where} is {shown(value)}, no tuple of {len(kinds)}")
        try:
            return tuple([kind.check(v) for kind, v in zip(kinds, value, strict=True)])
        except TypeMismatch:  # once more, to say which field it is
            for at, (kind, each) in enumerate(zip(kinds, value, strict=True)):
                kind.check(each, f"{where}[{at}]")
            raise

    def format(self, value: Any) -> str:
        if value is None:
            return "null"
        pairs = zip(self.field_types, value, strict=True)
        return f"({','.join(kind.format(v) for kind, v in pairs)})"

    def collected(self, value: Any) -> Any:
        if value is None:
            return None
        return tuple(k.collected(v) for k, v in zip(self.field_types, value, strict=True))

    def __str__(self) -> str:
        return f"TupleTypeInfo({', '.join(map(str, self.field_types))})"


@dataclass(frozen=True)
class RowTypeInfo(TypeInformation):
    """A `Row` with declared fields; f0, f1 and so on where they have no names."""

    field_types: tuple[TypeInformation, ...]
    field_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = self.field_names or [f"f{at}" for at in range(len(self.field_types))]
        object.__setattr__(self, "field_types", tuple(self.field_types))
        object.__setattr__(self, "field_names", tuple(names))

    def get_field_names(self) -> list[str]:
        return list(self.field_names)

    def get_field_types(self) -> list[TypeInformation]:
        return list(self.field_types)

    def get_field_index(self, field_name: str) -> int:
        """ValueError for a name that no field has."""
        return self.field_names.index(field_name)

    def check(self, value: Any, where: str = "value") -> Any:
        """Also of a tuple, a list, a dict by the fields' names, or an object with attributes of
        these names."""
        if value is None:
            return None
        given = self._given(value)
        if given is None:
            raise TypeMismatch(f"{where} is {shown(value)}, no row")
        if len(given) != len(self.field_types):
            raise TypeMismatch(f"{where} has {len(given)} fields, not {len(self.field_types)}")
        pairs = zip(self.field_types, given, strict=True)
        try:
            checked = [kind.check(v) for kind, v in pairs]
        except TypeMismatch:  # once more, to say which field it is
            prefix = "field " if where == "value" else f"{where}."
            triples = zip(self.field_types, self.field_names, given, strict=True)
            for kind, name, each in triples:
                kind.check(each, prefix + name)
            raise
        row = Row._named(self.field_names, checked)
        if isinstance(value, Row):
            row.set_row_kind(value.get_row_kind())
        return row

    def _given(self, value: Any) -> list[Any] | None:
        if isinstance(value, Row):
            named = value._names and value._names != self.field_names
            if named and set(value._names) == set(self.field_names):
                return value.get_fields_by_names(self.field_names)
            return list(value)
        if isinstance(value, dict):
            return [value.get(name) for name in self.field_names]
        if isinstance(value, tuple | list):
            return list(value)
        if hasattr(value, "__dict__"):
            return [getattr(value, name, None) for name in self.field_names]
        return None

    def format(self, value: Any) -> str:
        if value is None:
            return "null"
        pairs = zip(self.field_types, value, strict=True)
        kind = value.get_row_kind() if isinstance(value, Row) else RowKind.INSERT
        return f"{kind}[{', '.join(kind_.format(v) for kind_, v in pairs)}]"

    def printed(self, value: Any) -> str:
        if value is None:
            return "None"
        kind = value.get_row_kind() if isinstance(value, Row) else RowKind.INSERT
        return f"{kind}[{','.join(map(str, value))}]"

    def collected(self, value: Any) -> Any:
        if value is None:
            return None
        fields = [k.collected(v) for k, v in zip(self.field_types, value, strict=True)]
        row = Row._named(self.field_names, fields)
        if isinstance(value, Row):
            row.set_row_kind(value.get_row_kind())
        return row

    def __str__(self) -> str:
        if self == RowTypeInfo(self.field_types):
            return f"RowTypeInfo({', '.join(map(str, self.field_types))})"
        pairs = zip(self.field_names, self.field_types, strict=True)
        return f"RowTypeInfo({', '.join(f'{name}: {kind}' for name, kind in pairs)})"


class _Elements(TypeInformation):
    """A list of values of one type."""

    elem_type: TypeInformation
    kind = "list"

    def check(self, value: Any, where: str = "value") -> Any:
        if value is None:
            return None
        if not self._fits(value):
            raise TypeMismatch(f"{where} is {shown(value)}, no {self.kind}")
        check = self.elem_type.check
        try:
            return [check(each) for each in value]
        except TypeMismatch:
            for at, each in enumerate(value):
                check(each, f"{where}[{at}]")
            raise

    def _fits(self, value: Any) -> bool:
        return isinstance(value, list | tuple)

    def format(self, value: Any) -> str:
        if value is None:
            return "null"
        return f"[{', '.join(map(self.elem_type.format, value))}]"

    def collected(self, value: Any) -> Any:
        return None if value is None else [self.elem_type.collected(each) for each in value]


@dataclass(frozen=True)
class ListTypeInfo(_Elements):
    elem_type: TypeInformation

    def __str__(self) -> str:
        return f"ListTypeInfo<{self.elem_type}>"


class _Array(_Elements):
    """Also of anything like an array. Printed alone Java shows an array's class and address; here
    it is the elements, as within a row or tuple."""

    kind = "array"

    @property
    def _element_type(self) -> TypeInformation:
        return self.elem_type

    def _fits(self, value: Any) -> bool:
        return isinstance(value, list | tuple | array.array) or type(value).__name__ == "ndarray"

    def __str__(self) -> str:
        return f"{type(self).__name__}<{self.elem_type}>"


@dataclass(frozen=True)
class BasicArrayTypeInfo(_Array):
    """Elements of a basic type, or None."""

    elem_type: TypeInformation


@dataclass(frozen=True)
class ObjectArrayTypeInfo(_Array):
    elem_type: TypeInformation


@dataclass(frozen=True)
class PrimitiveArrayTypeInfo(_Array):
    """Elements of a basic type, never None. An array of bytes is `bytes`."""

    elem_type: TypeInformation

    def check(self, value: Any, where: str = "value") -> Any:
        if isinstance(value, bytes | bytearray | memoryview) and self.elem_type == basic("BYTE"):
            return bytes(value)
        checked = super().check(value, where)
        if checked is not None and None in checked:
            raise TypeMismatch(f"{where}[{checked.index(None)}] is null")
        return checked

    def format(self, value: Any) -> str:
        return super().format(array.array("b", value) if isinstance(value, bytes) else value)


@dataclass(frozen=True)
class MapTypeInfo(TypeInformation):
    """A dict from values of one type to values of another."""

    key_type: TypeInformation
    value_type: TypeInformation

    def check(self, value: Any, where: str = "value") -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise TypeMismatch(f"{where} is {shown(value)}, no map")
        keys = (self.key_type.check(k, f"key of {where}") for k in value)
        values = (self.value_type.check(v, f"{where}[{shown(k)}]") for k, v in value.items())
        return dict(zip(keys, values, strict=True))

    def format(self, value: Any) -> str:
        """In the dict's own order; Java's is that of its hashes."""
        if value is None:
            return "null"
        key, each = self.key_type.format, self.value_type.format
        return f"{{{', '.join(f'{key(k)}={each(v)}' for k, v in value.items())}}}"

    def collected(self, value: Any) -> Any:
        if value is None:
            return None
        key, each = self.key_type.collected, self.value_type.collected
        return {key(k): each(v) for k, v in value.items()}

    def __str__(self) -> str:
        return f"MapTypeInfo<{self.key_type}, {self.value_type}>"


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

    def printed(self, value: Any) -> str:
        return self.type_info.printed(value)

    def collected(self, value: Any) -> Any:
        return self.type_info.collected(value)

    def __str__(self) -> str:
        return f"{self.type_info} NOT NULL"


@dataclass(frozen=True)
class DataclassTypeInfo(TypeInformation):
    """Instances of a dataclass whose fields have declared types; printed as Python does."""

    cls: type
    field_types: tuple[TypeInformation, ...]

    @property
    def field_names(self) -> tuple[str, ...]:
        assert is_dataclass(self.cls)
        return tuple(field.name for field in fields(self.cls))

    def check(self, value: Any, where: str = "value") -> Any:
        """Also of a dict by the fields' names."""
        if value is None:
            return None
        if isinstance(value, dict):
            return self.cls(**self._checked(value.get, where))
        if not isinstance(value, self.cls):
            raise TypeMismatch(f"{where} is {shown(value)}, no {self.cls.__name__}")
        checked = self._checked(lambda name: getattr(value, name), where)
        changed = {k: v for k, v in checked.items() if v is not getattr(value, k)}
        return replace(value, **changed) if changed else value  # type: ignore[type-var]

    def _checked(self, get: Any, where: str) -> dict[str, Any]:
        prefix = "field " if where == "value" else f"{where}."
        pairs: Iterable[tuple[str, TypeInformation]]
        pairs = zip(self.field_names, self.field_types, strict=True)
        return {name: kind.check(get(name), prefix + name) for name, kind in pairs}

    def row_type(self) -> RowTypeInfo:
        """The same fields as a Row's, for formats of rows."""
        return RowTypeInfo(self.field_types, self.field_names)

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True)
class ExternalTypeInfo(TypeInformation):
    """Another type, as tables name it."""

    type_info: TypeInformation

    def check(self, value: Any, where: str = "value") -> Any:
        return self.type_info.check(value, where)

    def format(self, value: Any) -> str:
        return self.type_info.format(value)

    def printed(self, value: Any) -> str:
        return self.type_info.printed(value)

    def collected(self, value: Any) -> Any:
        return self.type_info.collected(value)

"""`Row`: a record of named or positional fields; PyFlink's `pyflink.common.types`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any


class RowKind(Enum):
    """What a row says about a changing table."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return ("+I", "-U", "+U", "-D")[self.value]


class Row:
    """A row of fields, by position (`Row(1, "a")`) or by name (`Row(id=1, name="a")`)."""

    __slots__ = ("_kind", "_names", "_values")

    def __init__(self, *values: Any, **named: Any) -> None:
        if values and named:
            raise ValueError("a Row takes positional or named fields, not both")
        self._values: list[Any] = list(values) if values else list(named.values())
        self._names: tuple[str, ...] = tuple(named)
        self._kind = RowKind.INSERT

    @staticmethod
    def of_kind(row_kind: RowKind, *values: Any, **named: Any) -> Row:
        row = Row(*values, **named)
        row._kind = row_kind
        return row

    @staticmethod
    def _named(names: tuple[str, ...], values: Iterable[Any]) -> Row:
        row = Row()
        row._values, row._names = list(values), names
        return row

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """Field name -> value; TypeError for a row without names."""
        if not self._names and self._values:
            raise TypeError("this Row has no field names; use set_field_names")
        values = map(_as_dict, self._values) if recursive else self._values
        return dict(zip(self._names, values, strict=True))

    def get_row_kind(self) -> RowKind:
        return self._kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        self._kind = row_kind

    def set_field_names(self, field_names: Iterable[str]) -> None:
        names = tuple(field_names)
        if len(names) != len(self._values):
            raise ValueError(f"{len(names)} names for {len(self._values)} fields")
        self._names = names

    def get_fields_by_names(self, names: Iterable[str]) -> list[Any]:
        return [self[name] for name in names]

    def __getitem__(self, field: int | str) -> Any:
        if isinstance(field, str):
            return self._values[self._position(field)]
        return self._values[field]

    def __setitem__(self, field: int | str, value: Any) -> None:
        self._values[self._position(field) if isinstance(field, str) else field] = value

    def _position(self, name: str) -> int:
        try:
            return self._names.index(name)
        except ValueError:
            raise ValueError(f"no field {name!r}; this Row has {list(self._names)}") from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._values[self._names.index(name)]
        except ValueError:
            fields = list(self._names)
            raise AttributeError(f"no field {name!r}; this Row has {fields}") from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, item: object) -> bool:
        """Whether there is a field of the name; of a row without names, whether it is a value."""
        return item in (self._names or self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        return (self._values, self._kind) == (other._values, other._kind)

    def __hash__(self) -> int:
        return hash((tuple(self._values), self._kind))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._names, tuple(self._values), self._kind.value)

    def __call__(self, *values: Any) -> Row:
        """A Row of names makes rows: `Person = Row("name", "age")`, `Person("Ada", 36)`."""
        if len(values) > len(self):
            raise ValueError(f"{len(values)} values for the {len(self)} fields of {self!r}")
        row = Row._named(tuple(self._values[: len(values)]), values)
        row._kind = self._kind
        return row

    def __repr__(self) -> str:
        if self._names:
            pairs = zip(self._names, self._values, strict=True)
            return f"Row({', '.join(f'{name}={value!r}' for name, value in pairs)})"
        return f"<Row({', '.join(map(repr, self._values))})>"


def _as_dict(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(True)
    if isinstance(value, list):
        return [_as_dict(each) for each in value]
    if isinstance(value, dict):
        return {key: _as_dict(each) for key, each in value.items()}
    return value


def _restore(names: tuple[str, ...], values: tuple[Any, ...], kind: int) -> Row:
    row = Row._named(names, values)
    row._kind = RowKind(kind)
    return row

"""sum, min, max, min_by and max_by, as reduce functions."""

from __future__ import annotations

from enum import Enum
from typing import Any

from headrace.common.types import Row
from headrace.datastream.functions import ReduceFunction


class Kind(Enum):
    """What an aggregation makes of two values."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"
    MIN_BY = "min_by"
    MAX_BY = "max_by"


_SUM = Kind.SUM
_OF_FIELDS = (Kind.SUM, Kind.MIN, Kind.MAX)


class Accumulate(ReduceFunction):
    """Of tuples, lists and Rows the field at `field`, of other values the value itself. The first
    of equal values stays."""

    def __init__(self, kind: Kind, field: int | str) -> None:
        self.kind = kind
        self.field = field

    def reduce(self, value1: Any, value2: Any) -> Any:
        at = self.field
        if type(value1) is tuple and type(at) is int and at >= 0 and self.kind in _OF_FIELDS:
            combined = self._choose(value1[at], value2[at], value1[at], value2[at])
            return (*value1[:at], combined, *value1[at + 1 :])
        if not isinstance(value1, tuple | list | Row):
            if self.field != 0:
                raise TypeError(
                    f"{self.kind.value} of field {self.field!r}, but {value1!r:.80} has no fields"
                )
            return self._choose(value1, value2, value1, value2)
        if self.kind in (Kind.MIN_BY, Kind.MAX_BY):
            first, second = _field(value1, self.field), _field(value2, self.field)
            return self._choose(first, second, value1, value2)
        return self._with_field(value1, value2)

    def _with_field(self, value1: Any, value2: Any) -> Any:
        first, second = _field(value1, self.field), _field(value2, self.field)
        combined = self._choose(first, second, first, second)
        if isinstance(value1, Row):
            row = Row._named(value1._names, value1)
            row.set_row_kind(value1.get_row_kind())
            row[self.field] = combined
            return row
        at = int(self.field)
        changed = [*value1[:at], combined, *value1[at + 1 :]] if at >= 0 else list(value1)
        changed[at] = combined
        if isinstance(value1, list):
            return changed
        make = getattr(type(value1), "_make", tuple)  # a named tuple stays one
        return make(changed)

    def _choose(self, first: Any, second: Any, value1: Any, value2: Any) -> Any:
        if self.kind is _SUM:
            return first + second
        if self.kind in (Kind.MIN, Kind.MIN_BY):
            return value2 if second < first else value1
        return value2 if second > first else value1


def _field(value: Any, field: int | str) -> Any:
    return value[field] if isinstance(value, Row) else value[int(field)]

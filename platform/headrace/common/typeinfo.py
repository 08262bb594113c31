"""Type information: what a stream's values are declared to be; PyFlink's `common.typeinfo`.

A declared type is semantic: it decides how a value prints, what becomes of it (a FLOAT has 32
bits), and how JSON is checked and read. A value that does not fit fails the job, naming operator,
field and value. Wherever a type is taken, Python's own will do: `tuple[str, int]`, a dataclass.
"""

from __future__ import annotations

from collections.abc import Sequence

from headrace.common.basic_types import BasicType, BasicTypeInfo, basic
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
from headrace.common.type_base import TypeInformation, TypeMismatch
from headrace.common.type_hints import type_of

__all__ = [
    "BasicArrayTypeInfo",
    "BasicType",
    "BasicTypeInfo",
    "DataclassTypeInfo",
    "ExternalTypeInfo",
    "ListTypeInfo",
    "MapTypeInfo",
    "NotNullTypeInfo",
    "ObjectArrayTypeInfo",
    "PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo",
    "RowTypeInfo",
    "SqlTimeTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
    "TypeMismatch",
    "Types",
]


class SqlTimeTypeInfo:
    """PyFlink's names of the types of dates and times."""

    @staticmethod
    def DATE() -> TypeInformation:
        return basic("SQL_DATE")

    @staticmethod
    def TIME() -> TypeInformation:
        return basic("SQL_TIME")

    @staticmethod
    def TIMESTAMP() -> TypeInformation:
        return basic("SQL_TIMESTAMP")


class PickledBytesTypeInfo:
    """PyFlink's name of the type of any Python value."""

    @staticmethod
    def PICKLED_BYTE_ARRAY_TYPE_INFO() -> TypeInformation:
        return basic("PICKLED_BYTE_ARRAY")


class Types:
    """PyFlink's shortcuts for declared types, and `NOT_NULL` and `OF`."""

    @staticmethod
    def OF(hint: object) -> TypeInformation:
        """Headrace's own: the type that Python's says. `int` is LONG, `float` DOUBLE; what may be
        None says so (`str | None`)."""
        found = type_of(hint)
        assert found is not None
        return found

    @staticmethod
    def NOT_NULL(type_info: TypeInformation) -> TypeInformation:
        """Headrace's own: every other type takes `None`."""
        return NotNullTypeInfo(type_info)

    @staticmethod
    def STRING() -> TypeInformation:
        return basic("STRING")

    @staticmethod
    def BOOLEAN() -> TypeInformation:
        return basic("BOOLEAN")

    @staticmethod
    def BYTE() -> TypeInformation:
        return basic("BYTE")

    @staticmethod
    def SHORT() -> TypeInformation:
        return basic("SHORT")

    @staticmethod
    def INT() -> TypeInformation:
        return basic("INT")

    @staticmethod
    def LONG() -> TypeInformation:
        return basic("LONG")

    @staticmethod
    def FLOAT() -> TypeInformation:
        """32 bits: values are rounded to them."""
        return basic("FLOAT")

    @staticmethod
    def DOUBLE() -> TypeInformation:
        return basic("DOUBLE")

    @staticmethod
    def CHAR() -> TypeInformation:
        return basic("CHAR")

    @staticmethod
    def BIG_INT() -> TypeInformation:
        return basic("BIG_INT")

    @staticmethod
    def BIG_DEC() -> TypeInformation:
        return basic("BIG_DEC")

    @staticmethod
    def INSTANT() -> TypeInformation:
        return basic("INSTANT")

    @staticmethod
    def SQL_DATE() -> TypeInformation:
        return basic("SQL_DATE")

    @staticmethod
    def SQL_TIME() -> TypeInformation:
        return basic("SQL_TIME")

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation:
        return basic("SQL_TIMESTAMP")

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:
        """Any Python value; what a stream without a declared type holds."""
        return basic("PICKLED_BYTE_ARRAY")

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TypeInformation:
        return TupleTypeInfo(tuple(field_types))

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> TypeInformation:
        return RowTypeInfo(tuple(field_types))

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
    def MAP(key_type_info: TypeInformation, value_type_info: TypeInformation) -> TypeInformation:
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> TypeInformation:
        if not isinstance(element_type, BasicTypeInfo) or element_type.name not in _PRIMITIVE:
            raise TypeError(f"{element_type} is no primitive type")
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation) -> TypeInformation:
        if not isinstance(element_type, BasicTypeInfo):
            raise TypeError(f"{element_type} is no basic type")
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation) -> TypeInformation:
        return ObjectArrayTypeInfo(element_type)


_PRIMITIVE = ("BOOLEAN", "BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "CHAR")

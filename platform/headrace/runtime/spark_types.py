"""Spark's column types as declared types, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

from pyspark.sql import types as spark

from headrace.common.type_hints import type_of
from headrace.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicTypeInfo,
    DataclassTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    NotNullTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from headrace.common.types import Row

_BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
_ARRAYS = (ListTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)
_DECLARED: dict[type[spark.DataType], TypeInformation] = {
    spark.StringType: Types.STRING(),
    spark.VarcharType: Types.STRING(),
    spark.CharType: Types.STRING(),
    spark.BooleanType: Types.BOOLEAN(),
    spark.ByteType: Types.BYTE(),
    spark.ShortType: Types.SHORT(),
    spark.IntegerType: Types.INT(),
    spark.LongType: Types.LONG(),
    spark.FloatType: Types.FLOAT(),
    spark.DoubleType: Types.DOUBLE(),
    spark.DecimalType: Types.BIG_DEC(),
    spark.DateType: Types.SQL_DATE(),
    spark.TimestampType: Types.INSTANT(),
    spark.TimestampNTZType: Types.SQL_TIMESTAMP(),
    spark.BinaryType: _BYTES,
}
_SPARK: dict[str, spark.DataType] = {
    "STRING": spark.StringType(),
    "CHAR": spark.StringType(),
    "BOOLEAN": spark.BooleanType(),
    "BYTE": spark.ByteType(),
    "SHORT": spark.ShortType(),
    "INT": spark.IntegerType(),
    "LONG": spark.LongType(),
    "FLOAT": spark.FloatType(),
    "DOUBLE": spark.DoubleType(),
    "BIG_INT": spark.DecimalType(38, 0),
    "BIG_DEC": spark.DecimalType(38, 18),
    "SQL_DATE": spark.DateType(),
    "INSTANT": spark.TimestampType(),
    "SQL_TIMESTAMP": spark.TimestampNTZType(),
}


def row_type(schema: spark.StructType) -> RowTypeInfo:
    """The type of the rows of a DataFrame. Raises TypeError for a column without a like."""
    kinds = tuple(_declared(field.dataType, field.name) for field in schema.fields)
    return RowTypeInfo(kinds, tuple(schema.names))


def struct_type(type_info: RowTypeInfo) -> spark.StructType:
    """The schema of the DataFrame of such rows. Raises TypeError."""
    pairs = zip(type_info.field_names, type_info.field_types, strict=True)
    return spark.StructType([_field(name, kind) for name, kind in pairs])


def columns_of(hint: Any) -> tuple[RowTypeInfo, Callable[[Any], Any]]:
    """A declared type as columns, and how a value of it becomes what fits those: rows and
    dataclasses by their fields, tuples f0, f1, ..., single values f0. Raises TypeError."""
    kind = type_of(hint)
    if isinstance(kind, NotNullTypeInfo):
        kind = kind.type_info
    if isinstance(kind, RowTypeInfo):
        return kind, _itself
    if isinstance(kind, DataclassTypeInfo):
        return kind.row_type(), _itself
    if isinstance(kind, TupleTypeInfo):
        names = tuple(f"f{i}" for i in range(len(kind.field_types)))
        return RowTypeInfo(kind.field_types, names), _itself
    if kind is None or kind == Types.PICKLED_BYTE_ARRAY():
        raise TypeError("the stream has no declared type, so nobody knows its columns")
    return RowTypeInfo((kind,), ("f0",)), _alone


def into_columns(schema: RowTypeInfo) -> Callable[[Any], Any]:
    """How a value of any stream becomes what fits the columns."""
    return _perhaps_alone if len(schema.field_names) == 1 else _itself


def _itself(value: Any) -> Any:
    return value


def _perhaps_alone(value: Any) -> Any:
    is_row = isinstance(value, Row | tuple | dict) or is_dataclass(value)
    return value if is_row else (value,)


def _alone(value: Any) -> Any:
    return (value,)


def _declared(kind: spark.DataType, where: str) -> TypeInformation:
    if isinstance(kind, spark.StructType):
        return row_type(kind)
    if isinstance(kind, spark.ArrayType):
        return Types.LIST(_declared(kind.elementType, f"{where}[]"))
    if isinstance(kind, spark.MapType):
        key = _declared(kind.keyType, f"key of {where}")
        return Types.MAP(key, _declared(kind.valueType, f"value of {where}"))
    found = _DECLARED.get(type(kind))
    if found is None:
        raise TypeError(
            f"column {where!r} is {kind.simpleString()}, which no stream's type stands for; cast "
            "or drop it in the DataFrame"
        )
    return found


def _field(name: str, kind: TypeInformation) -> spark.StructField:
    if isinstance(kind, NotNullTypeInfo):
        return spark.StructField(name, _spark(kind.type_info, name), nullable=False)
    return spark.StructField(name, _spark(kind, name))


def _spark(kind: TypeInformation, where: str) -> spark.DataType:
    if isinstance(kind, NotNullTypeInfo):
        return _spark(kind.type_info, where)
    if isinstance(kind, BasicTypeInfo) and kind.name in _SPARK:
        return _SPARK[kind.name]
    if kind == _BYTES:
        return spark.BinaryType()
    if isinstance(kind, _ARRAYS):
        return spark.ArrayType(_spark(kind.elem_type, where))
    if isinstance(kind, MapTypeInfo):
        return spark.MapType(_spark(kind.key_type, where), _spark(kind.value_type, where))
    if isinstance(kind, RowTypeInfo | TupleTypeInfo | DataclassTypeInfo):
        return struct_type(columns_of(kind)[0])
    raise TypeError(f"{where!r} is {kind}, which has no column type in Spark")

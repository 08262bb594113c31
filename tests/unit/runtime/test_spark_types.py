"""Spark's column types and declared types."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pyspark.sql import types as spark

from headrace.common import Types
from headrace.runtime import spark_types

MAP = spark.MapType(spark.StringType(), spark.LongType())
ALL = spark.StructType(
    [
        spark.StructField("text", spark.StringType()),
        spark.StructField("flag", spark.BooleanType()),
        spark.StructField("tiny", spark.ByteType()),
        spark.StructField("small", spark.ShortType()),
        spark.StructField("whole", spark.IntegerType()),
        spark.StructField("large", spark.LongType()),
        spark.StructField("single", spark.FloatType()),
        spark.StructField("double", spark.DoubleType()),
        spark.StructField("exact", spark.DecimalType(38, 18)),
        spark.StructField("day", spark.DateType()),
        spark.StructField("moment", spark.TimestampType()),
        spark.StructField("wall", spark.TimestampNTZType()),
        spark.StructField("bytes", spark.BinaryType()),
        spark.StructField("many", spark.ArrayType(MAP)),
        spark.StructField("inner", spark.StructType([spark.StructField("x", spark.LongType())])),
    ]
)


def test_a_schema_comes_back_from_its_rows() -> None:
    assert spark_types.struct_type(spark_types.row_type(ALL)) == ALL


@dataclass
class Point:
    x: int
    y: float | None


def test_streams_of_all_kinds_have_columns() -> None:
    def columns(hint: object) -> str:
        return spark_types.struct_type(spark_types.columns_of(hint)[0]).simpleString()

    assert columns(Types.TUPLE([Types.STRING(), Types.INT()])) == "struct<f0:string,f1:int>"
    assert columns(Point) == "struct<x:bigint,y:double>"
    assert columns(Types.LONG()) == "struct<f0:bigint>"
    with pytest.raises(TypeError, match="no declared type"):
        columns(None)
    with pytest.raises(TypeError, match=r"'at' is .*, which has no column type"):
        columns(Types.ROW_NAMED(["at"], [Types.SQL_TIME()]))


def test_a_column_that_no_stream_has_is_named() -> None:
    interval = spark.StructType([spark.StructField("v", spark.DayTimeIntervalType())])
    nested = spark.StructType([spark.StructField("inner", spark.ArrayType(interval))])
    with pytest.raises(TypeError, match="column 'v' is interval"):
        spark_types.row_type(nested)

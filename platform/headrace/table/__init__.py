"""PyFlink's `pyflink.table`: of it the data types, which formats of files are described with."""

from headrace.table.types import DataType, DataTypes

__all__ = ["DataType", "DataTypes"]

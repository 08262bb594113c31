"""Types of columns; PyFlink's `pyflink.table.types`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headrace.common.typeinfo import NotNullTypeInfo, RowTypeInfo, TypeInformation, Types


@dataclass(frozen=True)
class DataType:
    """A column's type and the declared type of a stream that stands for it."""

    name: str
    type_info: TypeInformation
    is_nullable: bool = True

    def nullable(self) -> DataType:
        return replace(self, is_nullable=True)

    def not_null(self) -> DataType:
        return replace(self, is_nullable=False)

    def to_type_info(self) -> TypeInformation:
        return self.type_info if self.is_nullable else NotNullTypeInfo(self.type_info)

    def __str__(self) -> str:
        return self.name if self.is_nullable else f"{self.name} NOT NULL"


@dataclass(frozen=True)
class RowField:
    """A column."""

    name: str
    data_type: DataType
    description: str | None = None


class DataTypes:
    """PyFlink's shortcuts. Lengths, precisions and scales are taken, and not enforced."""

    @staticmethod
    def CHAR(length: int, nullable: bool = True) -> DataType:
        return DataType(f"CHAR({length})", Types.STRING(), nullable)

    @staticmethod
    def VARCHAR(length: int, nullable: bool = True) -> DataType:
        return DataType(f"VARCHAR({length})", Types.STRING(), nullable)

    @staticmethod
    def STRING(nullable: bool = True) -> DataType:
        return DataType("STRING", Types.STRING(), nullable)

    @staticmethod
    def BOOLEAN(nullable: bool = True) -> DataType:
        return DataType("BOOLEAN", Types.BOOLEAN(), nullable)

    @staticmethod
    def BYTES(nullable: bool = True) -> DataType:
        return DataType("BYTES", Types.PRIMITIVE_ARRAY(Types.BYTE()), nullable)

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> DataType:
        return DataType(f"DECIMAL({precision}, {scale})", Types.BIG_DEC(), nullable)

    @staticmethod
    def TINYINT(nullable: bool = True) -> DataType:
        return DataType("TINYINT", Types.BYTE(), nullable)

    @staticmethod
    def SMALLINT(nullable: bool = True) -> DataType:
        return DataType("SMALLINT", Types.SHORT(), nullable)

    @staticmethod
    def INT(nullable: bool = True) -> DataType:
        return DataType("INT", Types.INT(), nullable)

    @staticmethod
    def BIGINT(nullable: bool = True) -> DataType:
        return DataType("BIGINT", Types.LONG(), nullable)

    @staticmethod
    def FLOAT(nullable: bool = True) -> DataType:
        return DataType("FLOAT", Types.FLOAT(), nullable)

    @staticmethod
    def DOUBLE(nullable: bool = True) -> DataType:
        return DataType("DOUBLE", Types.DOUBLE(), nullable)

    @staticmethod
    def DATE(nullable: bool = True) -> DataType:
        return DataType("DATE", Types.SQL_DATE(), nullable)

    @staticmethod
    def TIME(precision: int = 0, nullable: bool = True) -> DataType:
        return DataType(f"TIME({precision})", Types.SQL_TIME(), nullable)

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> DataType:
        return DataType(f"TIMESTAMP({precision})", Types.SQL_TIMESTAMP(), nullable)

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6, nullable: bool = True) -> DataType:
        return DataType(f"TIMESTAMP_LTZ({precision})", Types.INSTANT(), nullable)

    TIMESTAMP_WITH_LOCAL_TIME_ZONE = TIMESTAMP_LTZ

    @staticmethod
    def ARRAY(element_type: DataType, nullable: bool = True) -> DataType:
        kind = Types.LIST(element_type.to_type_info())
        return DataType(f"ARRAY<{element_type}>", kind, nullable)

    @staticmethod
    def MAP(key_type: DataType, value_type: DataType, nullable: bool = True) -> DataType:
        kind = Types.MAP(key_type.to_type_info(), value_type.to_type_info())
        return DataType(f"MAP<{key_type}, {value_type}>", kind, nullable)

    @staticmethod
    def FIELD(name: str, data_type: DataType, description: str | None = None) -> RowField:
        return RowField(name, data_type, description)

    @staticmethod
    def ROW(row_fields: Sequence[RowField], nullable: bool = True) -> DataType:
        kind = RowTypeInfo(
            tuple(field.data_type.to_type_info() for field in row_fields),
            tuple(field.name for field in row_fields),
        )
        shown = ", ".join(f"`{field.name}` {field.data_type}" for field in row_fields)
        return DataType(f"ROW<{shown}>", kind, nullable)

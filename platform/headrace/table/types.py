"""Types of columns; PyFlink's `pyflink.table.types`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

from headrace.common.basic_types import BasicTypeInfo, basic
from headrace.common.type_base import TypeMismatch, shown
from headrace.common.typeinfo import NotNullTypeInfo, RowTypeInfo, TypeInformation, Types


@dataclass(frozen=True, eq=False)
class _Decimal(BasicTypeInfo):
    precision: int = 38
    scale: int = 18

    def check(self, value: Any, where: str = "value") -> Any:
        number = super().check(value, where)
        if number is None:
            return None
        rounded = self._rounded(number)
        if rounded is None or len(rounded.as_tuple().digits) > self.precision:
            kind = f"DECIMAL({self.precision}, {self.scale})"
            raise TypeMismatch(f"{where} is {shown(value)}, which is no {kind}")
        return rounded

    def _rounded(self, number: Decimal) -> Decimal | None:
        """None for what is no number, and for one that no decimal holds to this scale."""
        if not number.is_finite():
            return None
        try:
            return _DIGITS.quantize(number, Decimal(1).scaleb(-self.scale))
        except InvalidOperation:
            return None

    def __reduce__(self) -> tuple[Any, ...]:
        return decimal, (self.precision, self.scale)


_DIGITS = Context(prec=1000, rounding=ROUND_HALF_UP)


def decimal(precision: int, scale: int) -> TypeInformation:
    """BIG_DEC of so many digits."""
    kind = basic("BIG_DEC")
    return _Decimal(kind.name, kind.convert, precision=precision, scale=scale)


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
    """PyFlink's shortcuts. Lengths, and precisions of times, are taken and not enforced."""

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
        """Numbers are rounded to the scale, half away from zero; one with too many digits does not
        fit."""
        return DataType(f"DECIMAL({precision}, {scale})", decimal(precision, scale), nullable)

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

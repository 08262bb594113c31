"""Types of single values."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from headrace.common import java_text
from headrace.common.time import Instant
from headrace.common.type_base import TypeInformation, TypeMismatch, shown

Convert = Callable[[Any], Any]


class BasicType(Enum):
    """PyFlink's names of them."""

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


@dataclass(frozen=True)
class BasicTypeInfo(TypeInformation):
    """A value of one of Flink's basic types; `None` is a value of each of them."""

    name: str
    convert: Convert
    text: Callable[[Any], str] = str
    #: Values of exactly this class fit as they are; None where none does.
    exact: type | None = None

    def check(self, value: Any, where: str = "value") -> Any:
        if value is None or type(value) is self.exact:
            return value
        try:
            return self.convert(value)
        except (TypeError, ValueError, OverflowError, ArithmeticError, struct.error) as error:
            raise TypeMismatch(
                f"{where} is {shown(value)}, which is no {self.name}: {str(error)[:80]}"
            ) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return basic, (self.name,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BasicTypeInfo) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        known = BasicType.__members__.get(self.name)
        return known.value if known else _OTHER_NAMES.get(self.name, self.name)

    def format(self, value: Any) -> str:
        return "null" if value is None else self.text(value)

    def collected(self, value: Any) -> Any:
        if self.name == "FLOAT" and value is not None:
            return float(java_text.single(value))  # PyFlink reads back what Java has printed
        return value

    @staticmethod
    def STRING_TYPE_INFO() -> BasicTypeInfo:
        return basic("STRING")

    @staticmethod
    def BOOLEAN_TYPE_INFO() -> BasicTypeInfo:
        return basic("BOOLEAN")

    @staticmethod
    def BYTE_TYPE_INFO() -> BasicTypeInfo:
        return basic("BYTE")

    @staticmethod
    def SHORT_TYPE_INFO() -> BasicTypeInfo:
        return basic("SHORT")

    @staticmethod
    def INT_TYPE_INFO() -> BasicTypeInfo:
        return basic("INT")

    @staticmethod
    def LONG_TYPE_INFO() -> BasicTypeInfo:
        return basic("LONG")

    @staticmethod
    def FLOAT_TYPE_INFO() -> BasicTypeInfo:
        return basic("FLOAT")

    @staticmethod
    def DOUBLE_TYPE_INFO() -> BasicTypeInfo:
        return basic("DOUBLE")

    @staticmethod
    def CHAR_TYPE_INFO() -> BasicTypeInfo:
        return basic("CHAR")

    @staticmethod
    def BIG_INT_TYPE_INFO() -> BasicTypeInfo:
        return basic("BIG_INT")

    @staticmethod
    def BIG_DEC_TYPE_INFO() -> BasicTypeInfo:
        return basic("BIG_DEC")

    @staticmethod
    def INSTANT_TYPE_INFO() -> BasicTypeInfo:
        return basic("INSTANT")


def basic(name: str) -> BasicTypeInfo:
    return _BASIC[name]


def _whole(bits: int | None) -> Convert:
    """A whole number of so many bits; numpy's and floats without a fraction are taken, too."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if bits else (0, 0)

    def convert(value: Any) -> int:
        if isinstance(value, bool):
            raise TypeError("not a whole number")
        if isinstance(value, float):
            if value != int(value):
                raise TypeError("not a whole number")
            value = int(value)
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError("not a whole number") from None
        if bits and not low <= number <= high:
            raise ValueError(f"outside {low}..{high}")
        return number

    return convert


def _real(value: Any) -> float:
    if isinstance(value, bool) or not (isinstance(value, int | float) or _is_numpy(value)):
        raise TypeError("not a number")
    return float(value)


def _is_numpy(value: Any) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "__float__")


def _single(value: Any) -> float:
    return float(struct.unpack("f", struct.pack("f", _real(value)))[0])


def _decimal(value: Any) -> Decimal:
    if isinstance(value, Decimal):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(f"it is a {type(value).__name__}")
    return Decimal(str(value))


def _instance(*kinds: type) -> Convert:
    def convert(value: Any) -> Any:
        if not isinstance(value, kinds):
            raise TypeError(f"it is a {type(value).__name__}")
        return value

    return convert


def _char(value: Any) -> str:
    if not isinstance(value, str) or len(value) != 1:
        raise TypeError("not one character")
    return value


def _instant(value: Any) -> Instant:
    """An Instant, a datetime with a time zone, or text in ISO 8601 with one, as JSON has it."""
    if isinstance(value, Instant):
        return value
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    if not isinstance(moment, datetime):
        raise TypeError(f"it is a {type(value).__name__}")
    if moment.tzinfo is None:
        raise ValueError("it has no time zone")
    since = moment.astimezone(UTC) - _EPOCH
    return Instant(since.days * 86_400 + since.seconds, since.microseconds * 1000)


def _date(value: Any) -> date:
    if isinstance(value, str):
        return date.fromisoformat(value)
    if isinstance(value, datetime):
        return value.date()
    return _instance(date)(value)  # type: ignore[no-any-return]


def _time(value: Any) -> time:
    """Without a zone: one of UTC's is dropped, another's moment depends on the day."""
    found: time = time.fromisoformat(value) if isinstance(value, str) else _instance(time)(value)
    if found.tzinfo is None:
        return found
    if found.utcoffset() != timedelta(0):
        raise ValueError("it is not in UTC")
    return found.replace(tzinfo=None)


def _timestamp(value: Any) -> datetime:
    """Without a zone: where there is one, the moment in UTC."""
    parsed = datetime.fromisoformat(value) if isinstance(value, str) else value
    found: datetime = _instance(datetime)(parsed)
    return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)


def _anything(value: Any) -> Any:
    return value


def _boolean(value: Any) -> str:
    return str(value).lower()


_EPOCH = datetime.fromtimestamp(0, UTC)
_OTHER_NAMES = {
    "SQL_DATE": "DateTypeInfo",
    "SQL_TIME": "TimeTypeInfo",
    "SQL_TIMESTAMP": "TimestampTypeInfo",
    "PICKLED_BYTE_ARRAY": "PickledByteArrayTypeInfo",
}
_BASIC: dict[str, BasicTypeInfo] = {
    info.name: info
    for info in (
        BasicTypeInfo("STRING", _instance(str), exact=str),
        BasicTypeInfo("BOOLEAN", _instance(bool), _boolean, exact=bool),
        BasicTypeInfo("BYTE", _whole(8)),
        BasicTypeInfo("SHORT", _whole(16)),
        BasicTypeInfo("INT", _whole(32)),
        BasicTypeInfo("LONG", _whole(64)),
        BasicTypeInfo("FLOAT", _single, java_text.single),
        BasicTypeInfo("DOUBLE", _real, java_text.double, exact=float),
        BasicTypeInfo("CHAR", _char),
        BasicTypeInfo("BIG_INT", _whole(None), exact=int),
        BasicTypeInfo("BIG_DEC", _decimal, exact=Decimal),
        BasicTypeInfo("INSTANT", _instant, java_text.instant, exact=Instant),
        BasicTypeInfo("SQL_DATE", _date, exact=date),
        BasicTypeInfo("SQL_TIME", _time, java_text.sql_time),
        BasicTypeInfo("SQL_TIMESTAMP", _timestamp, java_text.timestamp),
        BasicTypeInfo("PICKLED_BYTE_ARRAY", _anything),
    )
}

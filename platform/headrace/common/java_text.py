"""Values as Java writes them: what Flink prints for values of declared types."""

from __future__ import annotations

import math
import struct
from datetime import UTC, datetime, time
from decimal import Decimal

from headrace.common.time import Instant


def double(value: float) -> str:
    """`Double.toString`: 1.0, 1.0E10, NaN, Infinity."""
    return _special(value) or _laid_out(repr(float(value)))


def single(value: float) -> str:
    """`Float.toString`: the fewest digits that give the same 32 bits."""
    special = _special(value)
    if special:
        return special
    bits = struct.pack("f", value)
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == bits:
            return _laid_out(text)
    return _laid_out(repr(value))


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return ""


def _laid_out(text: str) -> str:
    """A decimal number in Java's layout: plain from 0.001 to below 10 million, else with an E."""
    sign, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    shown = "".join(map(str, digits)).rstrip("0") or "0"
    minus = "-" if sign else ""
    if shown == "0":
        return f"{minus}0.0"
    point = len(digits) + exponent  # digits before the point
    if -3 < point <= 7:
        whole = shown[:point].ljust(point, "0") if point > 0 else "0"
        fraction = shown[point:] if point > 0 else "0" * -point + shown
        return f"{minus}{whole}.{fraction or '0'}"
    return f"{minus}{shown[0]}.{shown[1:] or '0'}E{point - 1}"


def instant(value: Instant) -> str:
    """`Instant.toString`: ISO 8601, a fraction of 3, 6 or 9 digits where there is one."""
    at = datetime.fromtimestamp(value.seconds, UTC).replace(tzinfo=None)
    fraction = f"{value.nanos:09d}" if value.nanos else ""
    while fraction.endswith("000"):
        fraction = fraction[:-3]
    return f"{at.isoformat()}{'.' + fraction if fraction else ''}Z"


def timestamp(value: datetime) -> str:
    """`java.sql.Timestamp.toString`: at least one digit of a fraction."""
    fraction = f"{value.microsecond:06d}".rstrip("0") or "0"
    return f"{value.replace(tzinfo=None).isoformat(' ', 'seconds')}.{fraction}"


def sql_time(value: time) -> str:
    return f"{value:%H:%M:%S}"

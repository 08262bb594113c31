"""Spans of time as Flink's configuration writes them."""

from __future__ import annotations

import re

_UNITS = {
    "ns": 1e-6, "nano": 1e-6, "nanos": 1e-6, "nanosecond": 1e-6, "nanoseconds": 1e-6,
    "us": 1e-3, "µs": 1e-3, "micro": 1e-3, "micros": 1e-3,
    "microsecond": 1e-3, "microseconds": 1e-3,
    "": 1, "ms": 1, "milli": 1, "millis": 1, "millisecond": 1, "milliseconds": 1,
    "s": 1000, "sec": 1000, "secs": 1000, "second": 1000, "seconds": 1000,
    "m": 60_000, "min": 60_000, "mins": 60_000, "minute": 60_000, "minutes": 60_000,
    "h": 3_600_000, "hour": 3_600_000, "hours": 3_600_000,
    "d": 86_400_000, "day": 86_400_000, "days": 86_400_000,
}  # fmt: skip
_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE)


def parse_millis(text: str) -> int:
    """Milliseconds of `10 s`, `5min`, `PT1M30S`, or a plain number of them. ValueError else."""
    found = re.fullmatch(r"(\d+)\s*([a-zµ]*)", text.strip().lower())
    if found is not None and found[2] in _UNITS:
        return int(int(found[1]) * _UNITS[found[2]])
    iso = _ISO.fullmatch(text.strip())
    if iso is not None and any(iso.groups()):
        days, hours, minutes, seconds = (float(part or 0) for part in iso.groups())
        return int(((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000)
    raise ValueError(f"{text!r} is no span of time; write it like '10 s', '5 min' or 'PT1M'")

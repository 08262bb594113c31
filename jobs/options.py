"""Values of settings, in Flink's forms."""

from __future__ import annotations

import re

_UNITS_MS = {
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1000),
    **dict.fromkeys(("min", "m", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
    "": 1,
}


class InvalidOption(ValueError):
    """A setting has a value that cannot be used; nothing was changed."""


def duration_ms(text: str) -> int | None:
    """Flink's short form ('5 s', '100ms', '2 min', '7 d'; a bare number is milliseconds) or the
    ISO form ('PT1M30S', 'P1DT2H'); None for anything else."""
    short = re.fullmatch(r"(\d{1,12})\s*([a-zA-Z]*)", text.strip())
    if short and short[2].lower() in _UNITS_MS:
        return int(short[1]) * _UNITS_MS[short[2].lower()]
    iso = re.fullmatch(
        r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", text.strip().upper()
    )
    if iso and any(iso.groups()):
        days, hours, minutes, seconds = (float(part or 0) for part in iso.groups())
        return round((days * 86_400 + hours * 3600 + minutes * 60 + seconds) * 1000)
    return None

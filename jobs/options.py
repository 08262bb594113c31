"""Settings of a job under Flink's keys: which the control plane reads, and their defaults.

Nothing configured means: restart for ever, one second after each failure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

STRATEGY = "restart-strategy.type"
OLD_STRATEGY = "restart-strategy"
ATTEMPTS = "restart-strategy.fixed-delay.attempts"
DELAY = "restart-strategy.fixed-delay.delay"

FOR_EVER = 2_147_483_647
NO_RESTART = ("none", "off", "disable")
FIXED_DELAY = ("fixed-delay", "fixeddelay")
MAX_DELAY_MS = 7 * 24 * 3600 * 1000

_UNITS_MS = {
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1000),
    **dict.fromkeys(("min", "m", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    "": 1,
}


class InvalidOption(ValueError):
    """A setting has a value that cannot be used; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Restarts:
    """Fixed delay: how many restarts in a row, and milliseconds before each."""

    attempts: int = FOR_EVER
    delay_ms: int = 1000


def restarts(configuration: Mapping[str, str]) -> Restarts:
    """What the configuration says about restarts. Raises InvalidOption."""
    kind = configuration.get(STRATEGY, configuration.get(OLD_STRATEGY, "")).strip().lower()
    if kind in NO_RESTART:
        return Restarts(attempts=0)
    if kind and kind not in FIXED_DELAY:
        raise InvalidOption(
            f"{STRATEGY}: {kind!r} is not known; use 'fixed-delay' or 'none' "
            "(or leave it out: restarts for ever, after 1 s each)"
        )
    named = kind in FIXED_DELAY or ATTEMPTS in configuration
    default = Restarts(attempts=1) if named else Restarts()
    return Restarts(
        _attempts(configuration[ATTEMPTS]) if ATTEMPTS in configuration else default.attempts,
        _delay(configuration[DELAY]) if DELAY in configuration else default.delay_ms,
    )


def _attempts(text: str) -> int:
    if not re.fullmatch(r"\d{1,10}", text.strip()) or int(text) > FOR_EVER:
        raise InvalidOption(f"{ATTEMPTS}: {text!r} is no whole number from 0 to {FOR_EVER}")
    return int(text)


def _delay(text: str) -> int:
    milliseconds = duration_ms(text)
    if milliseconds is None or milliseconds > MAX_DELAY_MS:
        raise InvalidOption(
            f"{DELAY}: {text!r} is no duration up to 7 days, like '500 ms' or '5 s'"
        )
    return milliseconds


def duration_ms(text: str) -> int | None:
    """Flink's short form ('5 s', '100ms', '2 min'; a bare number is milliseconds) or the ISO
    form with hours, minutes and seconds ('PT1M30S'); None for anything else."""
    short = re.fullmatch(r"(\d{1,12})\s*([a-zA-Z]*)", text.strip())
    if short and short[2].lower() in _UNITS_MS:
        return int(short[1]) * _UNITS_MS[short[2].lower()]
    iso = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?", text.strip().upper())
    if iso and any(iso.groups()):
        hours, minutes, seconds = (float(part or 0) for part in iso.groups())
        return round((hours * 3600 + minutes * 60 + seconds) * 1000)
    return None

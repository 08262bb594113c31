"""How numbers, sizes, durations and times read on the pages. Pure: the clock is passed in."""

from __future__ import annotations

from datetime import datetime, timedelta

#: What stands where there is nothing to show yet.
NOTHING = "\N{EN DASH}"

_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000


def number(value: float | None) -> str:
    """12,345 up to a million, then 1.23 M; small fractions keep three figures."""
    if value is None:
        return NOTHING
    size = abs(value)
    for unit, letter in _UNITS:
        if size >= unit:
            return f"{_three_figures(value / unit)} {letter}"
    if size and size < 10:
        return f"{value:.3g}"
    if size < 100 and value != int(value):
        return f"{value:.1f}"
    return f"{value:,.0f}"


def size(value: float | None) -> str:
    """Bytes in binary units: 1.5 MiB."""
    if value is None:
        return NOTHING
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= unit:
            return f"{_three_figures(value / unit)} {name}"
    return f"{value:.0f} B"


def _three_figures(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def duration(ms: float | None) -> str:
    """The two largest units: 830 ms, 4.2 s, 3 min 09 s, 2 h 05 min, 1 d 4 h."""
    if ms is None:
        return NOTHING
    ms = max(0.0, ms)
    if ms < _SECOND:
        return f"{ms:.0f} ms"
    if ms < 10 * _SECOND:
        return f"{ms / _SECOND:.1f} s"
    return elapsed(ms)


def elapsed(ms: float) -> str:
    """A duration in whole seconds, as clocks that run show it (times.js says the same)."""
    ms = max(0.0, ms)
    if ms < _MINUTE:
        return f"{int(ms // _SECOND)} s"
    if ms < _HOUR:
        return f"{int(ms // _MINUTE)} min {int(ms % _MINUTE // _SECOND):02d} s"
    if ms < _DAY:
        return f"{int(ms // _HOUR)} h {int(ms % _HOUR // _MINUTE):02d} min"
    return f"{int(ms // _DAY)} d {int(ms % _DAY // _HOUR)} h"


def ago(then: datetime, now: datetime) -> str:
    """just now, 12 s ago, 3 min ago, 2 h ago, 3 d ago, then the date (as times.js)."""
    seconds = int((now - then) / timedelta(seconds=1))
    if seconds < -2:
        return f"in {_coarse(-seconds)}"
    if seconds < 3:
        return "just now"
    if seconds >= 7 * 86_400:
        return then.strftime("%-d %b %Y")
    return f"{_coarse(seconds)} ago"


def _coarse(seconds: int) -> str:
    for length, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds // length} {name}"
    return f"{seconds} s"


def exact(then: datetime) -> str:
    return then.strftime("%Y-%m-%d %H:%M:%S UTC")

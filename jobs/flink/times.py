"""Times as Flink tells them: milliseconds since 1970, -1 or 0 for what has not been."""

from __future__ import annotations

import time
from datetime import datetime

NEVER = -1


def now() -> int:
    return int(time.time() * 1000)


def of(moment: datetime | None, default: int = NEVER) -> int:
    return default if moment is None else int(moment.timestamp() * 1000)


def period(milliseconds: int) -> str:
    """As Java writes durations: PT2S, PT1M30S, PT0.5S."""
    seconds, rest = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{rest:03d}".rstrip("0") if rest else ""
    parts = (hours, "H"), (minutes, "M")
    text = "".join(f"{number}{unit}" for number, unit in parts if number)
    if seconds or fraction or not text:
        text += f"{seconds}{fraction}S"
    return f"PT{text}"

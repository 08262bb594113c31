"""Which folder below the base path a record's file is in."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

#: Letters of Java's date patterns that are understood, longest first.
_PATTERNS = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}


class BucketAssigner(ABC):
    """Chooses a folder for each record. Subclass it for choices of your own."""

    @abstractmethod
    def get_bucket_id(self, element: Any, timestamp: int | None) -> str:
        """A relative path, "" for the base path itself. `timestamp`: event time in ms or None."""

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        return BasePathBucketAssigner()

    @staticmethod
    def date_time_bucket_assigner(
        format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None
    ) -> BucketAssigner:
        """By the time at which the record is written, as in Flink, not by its event time. The
        system's time zone unless another is named. Raises ValueError."""
        return DateTimeBucketAssigner(_strftime(format_str), timezone_id)


@dataclass(frozen=True)
class BasePathBucketAssigner(BucketAssigner):
    def get_bucket_id(self, element: Any, timestamp: int | None) -> str:
        return ""


class DateTimeBucketAssigner(BucketAssigner):
    def __init__(self, pattern: str, timezone_id: str | None) -> None:
        self._pattern = pattern
        self._zone = timezone_id
        self._zone_info()
        self._second = -1
        self._bucket = ""

    def get_bucket_id(self, element: Any, timestamp: int | None) -> str:
        now = int(time.time())
        if now != self._second:
            self._second = now
            self._bucket = datetime.fromtimestamp(now, self._zone_info()).strftime(self._pattern)
        return self._bucket

    def _zone_info(self) -> ZoneInfo | None:
        return ZoneInfo(self._zone) if self._zone else None


def _strftime(pattern: str) -> str:
    """Java's date pattern in Python's letters."""

    def replace(match: re.Match[str]) -> str:
        text = match[0]
        if text.startswith("'"):
            return text[1:-1].replace("%", "%%") or "'"
        if text not in _PATTERNS:
            known = ", ".join(_PATTERNS)
            raise ValueError(f"date pattern {pattern!r}: {text!r} is none of {known}")
        return _PATTERNS[text]

    return re.sub(r"'[^']*'|([A-Za-z])\1*", replace, pattern.replace("%", "%%"))

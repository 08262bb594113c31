"""SET and RESET of a SQL script."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from headrace.sql.errors import SqlError, reason
from headrace.sql.statements import Set

log = logging.getLogger(__name__)

INTERVAL = "execution.checkpointing.interval"
ZONE = "table.local-time-zone"
MODE = "execution.runtime-mode"
#: Flink's settings that say what holds here anyway, or what the platform decides.
_SILENT = ("pipeline.name", "parallelism.default", "sql-client.", "execution.checkpointing.mode")
_UNITS = {"ms": 1, "s": 1000, "sec": 1000, "min": 60_000, "m": 60_000, "h": 3_600_000}
_SPARK_ZONE = "spark.sql.session.timeZone"


@dataclass
class Settings:
    """What SET has said up to a statement."""

    values: dict[str, str] = field(default_factory=dict)

    def apply(self, statement: Set) -> None:
        """RESET without a key is of all of them. Raises SqlError."""
        if statement.value is not None:
            self.values[statement.key] = statement.value
        elif statement.key:
            self.values.pop(statement.key, None)
        else:
            self.values.clear()
        mode = self.values.get(MODE, "streaming").lower()
        if mode not in ("streaming", "batch", "automatic"):
            raise SqlError(f"{MODE}: {mode!r} is not known; it is streaming, batch or automatic")

    @property
    def is_batch(self) -> bool:
        return self.values.get(MODE, "").lower() == "batch"

    @property
    def interval_ms(self) -> int:
        """Raises SqlError."""
        text = self.values.get(INTERVAL, "0").strip().lower()
        found = re.fullmatch(r"(\d+)\s*([a-z]*)", text)
        unit = (found[2] or "ms") if found else ""
        unit = {"seconds": "s", "second": "s", "minutes": "min", "minute": "min"}.get(unit, unit)
        if found is None or unit not in _UNITS:
            raise SqlError(f"{INTERVAL}: {text!r} is no duration; '10 s' is one")
        return int(found[1]) * _UNITS[unit]


def tell_spark(statement: Set, spark: SparkSession) -> None:
    """Raises SqlError for what Spark does not take."""
    key, value = statement.key, statement.value
    try:
        if key == ZONE or not key:
            named = value if value and value.lower() != "default" else "UTC"
            spark.conf.set(_SPARK_ZONE, named)
        elif key.startswith("spark.") and value is None:
            spark.conf.unset(key)
        elif key.startswith("spark."):
            spark.conf.set(key, str(value))
        elif key not in (INTERVAL, MODE) and not key.startswith(_SILENT):
            log.warning("SET '%s' has no effect here: nothing reads it", key)
    except Exception as error:  # of Spark's own kinds, by setting
        raise SqlError(f"SET '{key}' = '{value}': {reason(error)}") from None

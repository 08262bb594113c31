"""Spark's list of data sources written in Python: one for each application."""

from __future__ import annotations

import threading

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

_lock = threading.Lock()


def register(spark: SparkSession, kind: type[DataSource]) -> None:
    """Again and again, and by jobs that run at once: Spark looks for the name first and then adds
    it, so two that do so at a time would fail (DATA_SOURCE_ALREADY_EXISTS)."""
    with _lock:
        spark.dataSource.register(kind)

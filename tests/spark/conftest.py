"""Drivers as processes, and one Spark for many jobs, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from headrace.runtime import spark_session
from tests.driving import drive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headrace.runtime.context import RunContext

__all__ = ["drive", "on_spark"]


@pytest.fixture(scope="module")
def on_spark(spark: SparkSession) -> Iterator[SparkSession]:
    """The jobs of a module's programs run on the tests' Spark, and leave it running."""

    def start(context: RunContext, parallelism: int) -> SparkSession:
        jvm: Any = spark._jvm
        jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)
        return spark

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_session, "start", start)
        patch.setattr(spark_session, "stop", lambda session: None)
        yield spark

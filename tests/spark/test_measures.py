"""What functions count and measure on Spark, in front of a key, behind it and in sinks."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from tests.spark import measured, programs


def test_functions_count_on_spark_what_they_count_in_one_process(on_spark: SparkSession) -> None:
    found = counted("spark")
    assert found == counted("in-process")
    assert found["Seen accumulated"] == found["Seen metered"] == 149
    assert found["Seen histogram"] == {10: 2, 20: 1, 30: 1, 40: 1, 25: 1, 5: 1, 9: 1}
    assert (found["Seen counted"], found["Watched counted"], found["Told counted"]) == (8, 8, 10)


def counted(executor: str) -> dict[str, Any]:
    """The job's result."""
    env = programs.environment(executor)
    measured.payments(env).add_sink(measured.Told())
    return env.execute("payments").get_all_accumulator_results()

"""The end of a Spark application of which nothing is left."""

from __future__ import annotations

import logging
from typing import cast

import pytest
from pyspark.sql import SparkSession

from headrace.runtime import worker_ends


class Gone:
    """A session whose JVM was killed."""

    @property
    def conf(self) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    def stop(self) -> None:
        raise ConnectionRefusedError(111, "Connection refused")


def test_a_session_without_jvm_is_stopped_without_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        worker_ends.stop(cast(SparkSession, Gone()))
    assert "Spark had ended before it was stopped" in caplog.text

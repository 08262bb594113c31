"""Programs give on Spark what they give in one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headrace.datastream import StreamExecutionEnvironment
from tests.spark import programs
from tests.spark.programs import Streams

pytestmark = pytest.mark.usefixtures("on_spark")


@pytest.mark.parametrize("build", [programs.single, programs.double, programs.spread])
def test_spark_gives_what_one_process_gives(
    build: Callable[[StreamExecutionEnvironment], Streams],
) -> None:
    alone: dict[str, Any] = programs.results(build, "in-process")
    names = set(build(programs.environment("in-process")))
    assert set(alone) == names
    assert programs.results(build, "spark") == alone

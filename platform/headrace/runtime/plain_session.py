"""The Spark session of a program that asks for one itself: `SparkSession.builder.getOrCreate()`.

Only in a driver that the platform has launched: elsewhere such a program is Spark's alone.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from headrace.runtime import spark_session
from headrace.runtime.context import RunContext

log = logging.getLogger(__name__)

#: What the job's slots say, whatever the program does.
_OF_SLOTS = (
    *("spark.master", "spark.driver.memory", "spark.executor.memory", "spark.cores.max"),
    *("spark.local.dir", "spark.driver.host", "spark.driver.bindAddress"),
    *("spark.python.unix.domain.socket.enabled", "spark.python.unix.domain.socket.dir"),
)
#: What the operators of a job need, and a program of its own may expect otherwise.
_OF_JOBS = ("spark.sql.session.timeZone", "spark.sql.adaptive.enabled", "spark.app.name")
_JARS = "spark.jars"


def give(context: RunContext, opened: Callable[[SparkSession], None]) -> None:
    """From now on sessions run in the job's slots; `opened` is called with each new one. Sessions
    of a job (`execute`) are its own matter."""
    original = SparkSession.Builder.getOrCreate

    def get_or_create(builder: SparkSession.Builder) -> SparkSession:
        if context.jobs or SparkContext._active_spark_context is not None:
            return original(builder)
        _configure(builder, context)
        session = original(builder)
        spark_session.quieten(session)
        opened(session)
        return session

    SparkSession.Builder.getOrCreate = get_or_create  # type: ignore[method-assign,assignment]


def _configure(builder: SparkSession.Builder, context: RunContext) -> None:
    """1. what the slots say, 2. what the program says, 3. the job's configuration, 4. ours."""
    options: dict[str, Any] = builder._options
    own = {k: v for k, v in context.configuration.items() if k.startswith("spark.")}
    for name, value in spark_session.settings(context, context.parallelism).items():
        if name in _OF_SLOTS and name not in own:
            if options.get(name, value) != value:
                log.info("%s is %s, as the job's slots say, not %s", name, value, options[name])
            options[name] = value
        elif name == _JARS:
            options[name] = ",".join(filter(None, [options.get(name), value]))
        elif name not in own and name not in _OF_JOBS:
            options.setdefault(name, value)
    if "spark.sql.warehouse.dir" not in own:
        options["spark.sql.warehouse.dir"] = str(context.checkpoint_dir / "warehouse")
    _enter(context)
    spark_session.make_ready(context, own)


def _enter(context: RunContext) -> None:
    """Relative paths of the program mean the same at the next attempt."""
    folder = context.checkpoint_dir / "files"
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)

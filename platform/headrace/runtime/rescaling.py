"""Spreads the keyed state of a job over another number of tasks, while no query of it runs.

Spark keeps the number of a job's shuffle partitions in its checkpoint and goes on with it whatever
the session says. Key groups stay what they are: only the tasks change that they are spread over.
"""

from __future__ import annotations

import logging

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headrace.runtime.spark_offsets import SparkOffsets

log = logging.getLogger(__name__)

_PARTITIONS = "spark.sql.shuffle.partitions"


def waits(offsets: SparkOffsets) -> bool:
    """Whether a batch was planned and has not run: it has to run as it was planned, on as many
    tasks, and its functions have to see the parallelism of then."""
    return offsets.planned != offsets.completed and _unfinished(offsets) is None


def rescale(spark: SparkSession, offsets: SparkOffsets) -> None:
    """To as many tasks as the session has shuffle partitions, unless a batch waits to be run
    again: the next start does it then. It is a batch of its own, in which nothing is read."""
    unfinished = _unfinished(offsets)
    if unfinished is not None:
        _repartition(spark, offsets, unfinished)
    wanted = int(spark.conf.get(_PARTITIONS) or 0)
    completed = offsets.completed
    if completed is None or offsets.planned != completed:
        return
    if offsets.has_state and offsets.partitions(completed) != wanted:
        _repartition(spark, offsets, wanted)


def _unfinished(offsets: SparkOffsets) -> int | None:
    """How many tasks a rescaling was for that was cut short."""
    planned, completed = offsets.planned, offsets.completed
    if planned is None or completed is None or planned == completed:
        return None
    partitions = offsets.partitions(planned)
    return None if partitions == offsets.partitions(completed) else partitions


def _repartition(spark: SparkSession, offsets: SparkOffsets, partitions: int) -> None:
    """What Spark refuses leaves the checkpoint as it was: the job goes on with as many tasks."""
    before = offsets.planned
    _ = spark.streams.active  # starts what knows who has loaded which state: a query would, too
    try:
        spark._streamingCheckpointManager.repartition(str(offsets.checkpoint), partitions)
    except PySparkException as error:
        if offsets.planned != before:
            raise
        log.warning("the job's state is not spread over %d tasks: %s", partitions, error)
    else:
        log.info("the job's state is spread over %d tasks from now on", partitions)

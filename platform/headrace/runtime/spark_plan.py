"""The program as one streaming DataFrame of frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headrace.common.configuration import Configuration
from headrace.datastream.checkpoint_config import CheckpointConfig
from headrace.runtime import spark_sources
from headrace.runtime.frames import REPORT, SCHEMA
from headrace.runtime.ingest import ingest, ingest_control
from headrace.runtime.kafka_input import KafkaInput
from headrace.runtime.program import PackedProgram, Program
from headrace.runtime.spark_state import LevelProcessor

Prepared = Mapping[int, spark_sources.SparkSource]


@dataclass(frozen=True)
class SparkPlan:
    """What the streaming query writes, and whether all its sources end."""

    frames: DataFrame
    packed: PackedProgram
    bounded: bool


def build(
    spark: SparkSession,
    program: Program,
    state_dir: Path,
    control: Path,
    configuration: dict[str, str],
    kafka: Mapping[int, KafkaInput],
) -> SparkPlan:
    """Level 0 reads the sources, each further level is one exchange by key group with state;
    frames for sinks pass through the levels behind them. `kafka`: Kafka sources made ready, by
    the number of their node."""
    prepared = prepare(spark, program, state_dir, configuration, kafka)
    checkpoints = CheckpointConfig(Configuration(configuration))
    pause = checkpoints.get_min_pause_between_checkpoints()
    ticks = spark_sources.control_rows(spark, control, pause)
    packed, frames = frames_of(spark, program, prepared, ticks)
    wanted = [REPORT, *program.sinks]
    return SparkPlan(frames.where(F.col("op").isin(wanted)), packed, bounded(prepared))


def prepare(
    spark: SparkSession,
    program: Program,
    state_dir: Path,
    configuration: dict[str, str],
    kafka: Mapping[int, KafkaInput],
) -> Prepared:
    """The program's sources made ready, by their number."""
    prepared = {
        number: spark_sources.prepare(
            spark,
            source,
            position,
            state_dir,
            configuration,
            kafka.get(number),
            program.parallelism,
        )
        for position, (number, source) in enumerate(program.sources.items(), 1)
    }
    for number, prepared_source in prepared.items():
        program.give_splits(number, prepared_source.splits)
    return prepared


def frames_of(
    spark: SparkSession, program: Program, prepared: Prepared, control: DataFrame | None
) -> tuple[PackedProgram, DataFrame]:
    """What leaves the last level."""
    for path in program.cached_files.values():
        spark.sparkContext.addFile(path, recursive=Path(path).is_dir())
    packed = PackedProgram.pack(program)
    stages = [
        source.rows.mapInArrow(ingest(packed, number, source.decode), SCHEMA)
        for number, source in prepared.items()
    ]
    if control is not None:
        stages.append(control.mapInArrow(ingest_control(packed), SCHEMA))
    frames = reduce(DataFrame.unionByName, stages)
    for level in range(1, program.levels + 1):
        frames = frames.groupBy("kg").transformWithState(
            LevelProcessor(packed, level), SCHEMA, "Append", "None"
        )
    return packed, frames


def bounded(prepared: Prepared) -> bool:
    """Whether the job ends."""
    return all(source.bounded for source in prepared.values())

"""The program as one streaming DataFrame of frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headrace.runtime import spark_sources
from headrace.runtime.frames import REPORT, SCHEMA
from headrace.runtime.ingest import ingest, ingest_control
from headrace.runtime.operators.stateless import AssignTimestamps
from headrace.runtime.program import PackedProgram, Program
from headrace.runtime.spark_state import LevelProcessor


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
) -> SparkPlan:
    """Level 0 reads the sources, each further level is one exchange by key group with state;
    frames for sinks pass through the levels behind them."""
    prepared = {
        number: spark_sources.prepare(spark, source, number, state_dir, configuration)
        for number, source in program.sources.items()
    }
    _give_splits(program, {number: source.splits for number, source in prepared.items()})
    packed = PackedProgram.pack(program)
    stages = [
        source.rows.mapInArrow(ingest(packed, number, source.decode), SCHEMA)
        for number, source in prepared.items()
    ]
    ticks = spark_sources.control_rows(spark, control)
    stages.append(ticks.mapInArrow(ingest_control(packed), SCHEMA))
    frames = reduce(DataFrame.unionByName, stages)
    for level in range(1, program.levels + 1):
        frames = frames.groupBy("kg").transformWithState(
            LevelProcessor(packed, level), SCHEMA, "Append", "None"
        )
    wanted = [REPORT, *program.sinks]
    bounded = all(source.bounded for source in prepared.values())
    return SparkPlan(frames.where(F.col("op").isin(wanted)), packed, bounded)


def _give_splits(program: Program, splits: dict[int, tuple[str, ...]]) -> None:
    """Tell each watermark generator which splits it has to hear from."""
    for number, found in splits.items():
        reached = [number]
        for node_id in reached:
            node = program.nodes[node_id]
            if isinstance(node.operator, AssignTimestamps):
                generator = program.generators.get(f"generator-{node.id}")
                if generator is not None:
                    generator.splits += tuple(f"{number}:{split}" for split in found)
                    continue
            for targets in node.outputs.values():
                reached += [t.node for t in targets if t.selector is None]

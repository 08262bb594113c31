"""Where sources end that run beside others which do not is read from Spark's log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headrace.common import WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import FileSource, StreamFormat
from headrace.runtime.bounded_sources import BoundedSources
from headrace.runtime.spark_offsets import SparkOffsets


def log(checkpoint: Path, batch: int, *sources: Any) -> None:
    lines = ["v1", json.dumps({"conf": {}}), *map(json.dumps, sources)]
    for name in ("offsets", "commits"):
        path = checkpoint / name / str(batch)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines))


def test_a_batch_that_finds_nothing_new_shows_the_end(tmp_path: Path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "a", "b").build()
    env.from_source(files, WatermarkStrategy.no_watermarks(), "files").print()
    env.from_collection([1, 2]).print()
    env.socket_text_stream("host", 1).print()
    program = env.compile("test")
    lines, values, _ = program.sources
    sources = BoundedSources(program, SparkOffsets(tmp_path))
    assert sources.splits == {f"{lines}:0", f"{values}:0"}
    assert sources.ended() == set()

    log(tmp_path, 0, {"file": 0}, {"file": 0}, {"position": 2}, {"position": 9})
    assert sources.ended() == set()
    log(tmp_path, 1, {"file": 0}, {"file": 1}, {"position": 2}, {"position": 9})
    assert sources.ended() == {f"{values}:0"}
    log(tmp_path, 2, {"file": 0}, {"file": 1}, {"position": 2}, {"position": 12})
    assert sources.ended() == {f"{lines}:0", f"{values}:0"}

"""PySpark scripts on the platform: supervised as jobs are, and nothing is changed in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from headrace.wire import events
from tests.driving import DrivenJob

DOCS = Path(__file__).parents[2] / "docs"


def documented() -> str:
    """The script of the documentation."""
    [script] = re.findall(
        r"```python\n(# clicks\.py.*?)```", (DOCS / "plain-pyspark.md").read_text(), re.DOTALL
    )
    return str(script)


def write(folder: Path, name: str, *users: str) -> None:
    """A file appears at once, as a whole."""
    clicks = [{"user": user, "page": "/"} for user in users] + [{"user": "x", "page": "/health"}]
    hidden = folder / f".{name}"
    hidden.write_text("".join(f"{json.dumps(click)}\n" for click in clicks))
    hidden.rename(folder / f"{name}.json")


def users(out: Path) -> list[str]:
    """What a reader of the file sink's own log sees."""
    logs = sorted((out / "_spark_metadata").glob("[0-9]*"))
    lines = [line for log in logs for line in log.read_text().splitlines()[1:]]
    files = {json.loads(line)["path"].removeprefix("file://") for line in lines}
    return sorted(user for file in files for user in pq.read_table(file)["user"].to_pylist())


def totals(job: DrivenJob) -> dict[str, int]:
    parts = (job.folder / "checkpoint" / "files" / "totals").glob("*.json")
    rows = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
    return {row["user"]: row["count"] for row in rows}


def test_the_script_of_the_documentation_is_supervised_and_goes_on(
    drive: Callable[..., DrivenJob], tmp_path: Path
) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    job = drive(documented(), str(folder), str(out))

    def both_have_read() -> bool:
        return sum(e.records_in > 0 for e in job.events(events.CheckpointCompleted)) == 2

    write(folder, "1", "ann", "bob")
    job.start()
    job.until(both_have_read)
    job.end()  # killed with all that it started: what was committed stays
    first = job.events(events.CheckpointCompleted)
    assert [e.checkpoint_id for e in first] == [1, 2]
    assert sorted(e.state_rows for e in first) == [0, 3]
    plan = job.events(events.Planned)[-1]
    assert plan.sinks == [f"parquet:{out}", "foreachBatch"]
    assert plan.sources == [f"FileSource[{folder}]"] * 2
    assert [node["type"] for node in plan.plan["nodes"]][4] == "Query: totals"
    assert "spark.master is local[2]" in job.log()

    write(folder, "2", "ann")
    job.start()
    job.until(both_have_read)
    job.terminate()
    assert job.wait() == 0, job.log()
    assert job.events()[-1] == events.Stopped("suspended")
    assert users(out) == ["ann", "ann", "bob"]
    assert totals(job) == {"ann": 2, "bob": 1, "x": 2}
    [running] = job.events(events.Running)
    assert running.restored_checkpoint == 2
    assert job.events(events.CheckpointCompleted)[0].checkpoint_id == 3


FAILING = """
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

spark = SparkSession.builder.getOrCreate()

@udf("long")
def halved(value):
    return 10 // (3 - value)

rate = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
healthy = rate.writeStream.format("noop").start()
rate.select(halved("value")).writeStream.queryName("halves").format("noop").start()
while True:
    healthy.awaitTermination(1)
"""


def test_a_query_that_fails_fails_the_job_whatever_the_script_waits_for(
    drive: Callable[..., DrivenJob],
) -> None:
    job = drive(FAILING)
    assert job.run() == 1, job.log()
    failed = job.events()[-1]
    assert isinstance(failed, events.Failed)
    assert failed.error.startswith("ZeroDivisionError: ")
    assert "return 10 // (3 - value)" in failed.traceback
    assert failed.restartable


FINISHING = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()

assert spark.sparkContext.master == "local[2]"
spark.range(10).write.parquet("numbers")
spark.stop()
"""


def test_a_script_that_ends_is_finished(drive: Callable[..., DrivenJob]) -> None:
    job = drive(FINISHING)
    assert job.run() == 0, job.log()
    assert job.events()[-1] == events.Stopped("finished")
    assert (job.folder / "checkpoint" / "files" / "numbers" / "_SUCCESS").exists()

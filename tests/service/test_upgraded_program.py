"""A job with state is upgraded and rescaled, by way of a version that does not start: every record
counts once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headrace.connectors.files.staging import HIDDEN
from jobs import actions, upgrades, versions
from jobs.models import Job, Upgrade
from jobs.states import JobState
from tests.service.conftest import Cluster

SPARK_SECONDS = 600.0
COUNTS = """
import sys

from headrace.common import Encoder, Types, WatermarkStrategy
from headrace.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from headrace.datastream.connectors.file_system import FileSink
from headrace.datastream.state import ValueStateDescriptor

VERSION = "first"


class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{value % 3} {self.count.value()} {VERSION}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_max_parallelism(8).enable_checkpointing(200)
source = DataGeneratorSource(int, rate_limiter_strategy=RateLimiterStrategy.per_checkpoint(12))
numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
counted = numbers.key_by(lambda n: n % 3).process(Count(), Types.STRING()).uid("count")
encoder = Encoder.simple_string_encoder()
counted.sink_to(FileSink.for_row_format(sys.argv[1], encoder).build())
env.execute("counts")
"""


@pytest.mark.timeout(2400)
def test_counts_go_on_over_versions(cluster: Cluster, tmp_path: Path) -> None:
    cluster.environment |= {
        "HEADRACE_DRIVER_COMMAND": f"{sys.executable},-m,headrace.runtime.driver",
        "HEADRACE_DRIVER_TIMEOUT": "120",
        "HEADRACE_STOP_TIMEOUT": "120",
    }
    cluster.start_jobmanager()
    cluster.start_taskmanager()
    out = tmp_path / "out"
    patient = {versions.START_TIMEOUT: f"{SPARK_SECONDS:.0f} s"}
    program = (COUNTS.encode(), "counts.py")
    job = actions.submit("counts", program, [str(out)], configuration=patient)
    cluster.until(lambda: job.checkpoints.filter(records_in__gt=0).count() >= 2, SPARK_SECONDS)

    # its state would find no operator: the first version goes on
    lost = COUNTS.replace('uid("count")', 'uid("other")').encode()
    upgrade = upgraded(cluster, upgrades.ask(job, entry=(lost, "counts.py")))
    assert (upgrade.state, upgrade.job.version) == ("REVERTED", 1), upgrade.failure
    assert "the state of operator 'count' would be lost" in upgrade.failure

    second = COUNTS.replace('"first"', '"second"').encode()
    upgrade = upgraded(cluster, upgrades.ask(job, entry=(second, "counts.py"), parallelism=2))
    assert (upgrade.state, upgrade.job.version) == ("DONE", 3), upgrade.failure
    third = job.checkpoints.filter(attempt__version=3, records_in__gt=0)
    cluster.until(lambda: third.count() >= 2, SPARK_SECONDS)

    actions.cancel(Job.objects.get(pk=job.pk))
    cluster.wait(job, JobState.CANCELED, timeout=SPARK_SECONDS)
    rows = [line.split() for line in lines(out)]
    assert {version for _, _, version in rows} == {"first", "second"}
    for key in "012":
        counts = sorted(int(count) for of, count, _ in rows if of == key)
        assert counts == list(range(1, len(counts) + 1))
        assert len(counts) >= 4


def upgraded(cluster: Cluster, upgrade: Upgrade) -> Upgrade:
    def over() -> bool:
        upgrade.refresh_from_db()
        return upgrade.state_info.is_terminal

    cluster.until(over, SPARK_SECONDS, lambda: f"{upgrade.state}: {upgrade.failure}")
    upgrade.job.refresh_from_db()
    return upgrade


def lines(base: Path) -> list[str]:
    parts = [path for path in base.rglob("part-*") if HIDDEN not in path.parts]
    return [line for path in parts for line in path.read_text().splitlines()]

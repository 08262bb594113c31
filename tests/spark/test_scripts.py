"""Programs as they are run on a laptop: `python job.py`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Starting Spark takes most of it on a busy machine.
SECONDS = 600

WHOLE = """
from pathlib import Path

from headrace.common import Types
from headrace.datastream import MapFunction, StreamExecutionEnvironment


class Priced(MapFunction):
    def open(self, runtime_context):
        self.prices = {}
        cached = runtime_context.get_distributed_cache().get_file("prices")
        for line in Path(cached).read_text().splitlines():
            name, price = line.split()
            self.prices[name] = float(price)
        self.sold = runtime_context.get_int_counter("sold")
        self.calls = runtime_context.get_metrics_group().counter("calls")

    def map(self, value):
        from pricing import rounded

        self.sold.add(value[1])
        self.calls.inc()
        return value[0], value[1], rounded(self.prices[value[0]] * value[1])


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.add_python_file("lib/pricing.py")
    env.register_cached_file("prices.txt", "prices")
    sales = env.from_collection(
        [("tea", 2), ("milk", 1), ("tea", 1)], Types.TUPLE([Types.STRING(), Types.INT()])
    )
    kind = Types.TUPLE([Types.STRING(), Types.INT(), Types.FLOAT()])
    sales.map(Priced(), kind).key_by(lambda sale: sale[0]).sum(2).print("sale")
    result = env.execute("sales")
    print(result.get_accumulator_result("sold"), result.get_accumulator_result("calls"))
    env.from_elements({"n": 1}).print_to_err()
    env.execute("another")
"""


def test_a_program_has_its_files_and_prints_as_pyflink_does(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/pricing.py").write_text("def rounded(price):\n    return round(price, 2)\n")
    (tmp_path / "prices.txt").write_text("tea 2.5\nmilk 0.9\n")
    done = finished(tmp_path, WHOLE)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "4 3",
        "sale> (milk,1,0.9)",
        "sale> (tea,2,5.0)",
        "sale> (tea,2,7.5)",
    ]
    assert "{'n': 1}" in done.stderr.splitlines()


ENDLESS = """
import signal

from headrace.common import WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever runs the tests ignores it
env = StreamExecutionEnvironment.get_execution_environment()
source = DataGeneratorSource(str, rate_limiter_strategy=RateLimiterStrategy.per_second(20))
stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "for ever")
stream.key_by(len).reduce(max).print()
env.execute()
"""


def test_control_c_ends_a_job_with_nothing_left(tmp_path: Path) -> None:
    with started(tmp_path, ENDLESS) as job:
        assert job.stdout is not None
        assert job.stdout.readline().strip()
        os.killpg(job.pid, signal.SIGINT)
        _, err = job.communicate(timeout=SECONDS)
    assert job.returncode == 130 or job.returncode == -signal.SIGINT, err
    assert "Exception" not in err, err
    assert [path.name for path in (tmp_path / "tmp").glob("headrace-*/*")] == []


def finished(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    with started(folder, program) as job:
        out, err = job.communicate(timeout=SECONDS)
    return subprocess.CompletedProcess(job.args, job.returncode, out, err)


@contextmanager
def started(folder: Path, program: str) -> Iterator[subprocess.Popen[str]]:
    """In a process group of its own, as a terminal's; temporary files in a folder of the test."""
    (folder / "job.py").write_text(program)
    (folder / "tmp").mkdir()
    job = subprocess.Popen(
        [sys.executable, "job.py"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp"), "SPARK_MASTER": "local[2]"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield job
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            job.communicate()

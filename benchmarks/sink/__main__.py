"""`make bench`: this sink with both guarantees beside Spark's own, on one broker, in one session.

Contenders take turns, each round in another order, after a round that is thrown away. Report in
Markdown on standard output.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks import figures, processes
from benchmarks.sink import latency, throughput, topics
from benchmarks.sink.contenders import Contender, contenders
from workers.embedded import jars, kafka, ports

CORES = 2
#: Records of a small batch.
SMALL = 100
#: Of a query whose latencies are measured.
WARM_UP_SECONDS = 15.0
SLOW_PHASE_MS = 20


def main() -> None:
    asked = _arguments()
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        home = Path(folder)
        port = ports.free()
        broker = kafka.start(home / "kafka", port, asked.jars)
        try:
            _compare(asked, kafka.bootstrap_servers(port), broker.pid, home)
        finally:
            kafka.stop(broker)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.sink", description=__doc__)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--per-batch", type=int, default=50_000)
    parser.add_argument("--small-batches", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=1_000, help="records/s for latency")
    parser.add_argument("--seconds", type=float, default=40.0, help="measured, for latency")
    parser.add_argument("--only", choices=["throughput", "small", "latency"])
    parser.add_argument("--jars", type=Path, default=Path(".headrace/jars"))
    return parser.parse_args()


def _compare(asked: argparse.Namespace, servers: str, broker: int, home: Path) -> None:
    spark = _session(jars.resolve("spark", asked.jars))
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, Spark {spark.version} on "
        f"local[{CORES}], {asked.rounds} rounds: median (least to greatest)"
    )
    rivals = contenders(spark, servers, home / "checkpoints")
    try:
        if asked.only in (None, "throughput"):
            _throughput(asked, spark, servers, broker, rivals)
        if asked.only in (None, "small"):
            _small_batches(asked, spark, servers, rivals)
        if asked.only in (None, "latency"):
            _latency(asked, spark, servers, rivals)
    finally:
        spark.stop()


def _session(connector: list[Path]) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(f"local[{CORES}]")
        .config("spark.jars", ",".join(map(str, connector)))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config("spark.sql.streaming.numRecentProgressUpdates", "10000")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


def _turns(rivals: list[Contender], rounds: int) -> list[Contender]:
    """Everybody once a round, each round beginning with another."""
    return [rivals[(i + j) % len(rivals)] for i in range(rounds) for j in range(len(rivals))]


def _throughput(
    asked: argparse.Namespace,
    spark: SparkSession,
    servers: str,
    broker: int,
    rivals: list[Contender],
) -> None:
    _note(f"preloading {asked.records:,} records")
    topic = topics.preload(servers, asked.records)
    frame = throughput.source(spark, servers, topic, asked.per_batch)
    warm = throughput.source(
        spark, servers, topics.preload(servers, asked.per_batch * 16), asked.per_batch
    )
    for rival in rivals:
        throughput.run(rival, warm, topics.new(servers, "out"), lambda: 0.0)

    def cpu() -> float:
        return processes.cpu_seconds(os.getpid(), without=[broker])

    runs: dict[str, list[throughput.Run]] = defaultdict(list)
    for rival in _turns(rivals, asked.rounds):
        found = throughput.run(rival, frame, topics.new(servers, "out"), cpu)
        runs[rival.name].append(found)
        _note(f"{rival.name}: {found.per_second:,.0f}/s, {found.cpu_per_million:.1f} CPU s/M")
    print(f"\n### Throughput: {asked.records:,} records, {asked.per_batch:,} a batch\n")
    print(
        figures.table(
            ["sink", "records/s", "CPU s per million", "batch ms"],
            [
                [
                    name,
                    figures.spread([run.per_second for run in found]),
                    figures.spread([run.cpu_per_million for run in found], 1),
                    figures.spread([figures.percentile(run.batches_ms, 0.5) for run in found]),
                ]
                for name, found in runs.items()
            ],
        )
    )


def _small_batches(
    asked: argparse.Namespace,
    spark: SparkSession,
    servers: str,
    rivals: list[Contender],
) -> None:
    topic = topics.preload(servers, SMALL * asked.small_batches)
    frame = throughput.source(spark, servers, topic, SMALL)
    for rival in rivals:
        throughput.run(rival, frame, topics.new(servers, "out"), lambda: 0.0)
    runs: dict[str, list[throughput.Run]] = defaultdict(list)
    for rival in _turns(rivals, asked.rounds):
        found = throughput.run(rival, frame, topics.new(servers, "out"), lambda: 0.0)
        runs[rival.name].append(found)
        _note(f"{rival.name}: {figures.percentile(found.batches_ms, 0.5):.0f} ms a batch")
    print(f"\n### Small batches: {SMALL} records each\n")
    print(
        figures.table(
            ["sink", "median ms a batch", "99th percentile ms"],
            [
                [
                    name,
                    figures.spread([figures.percentile(run.batches_ms, 0.5) for run in found]),
                    figures.spread([figures.percentile(run.batches_ms, 0.99) for run in found]),
                ]
                for name, found in runs.items()
            ],
        )
    )


def _latency(
    asked: argparse.Namespace, spark: SparkSession, servers: str, rivals: list[Contender]
) -> None:
    runs: dict[str, list[list[float]]] = defaultdict(list)
    for rival in _turns(rivals, asked.rounds):
        found = _one_latency(asked, spark, servers, rival)
        runs[rival.name].append(found)
        _note(f"{rival.name}: p50 {figures.percentile(found, 0.5):.0f} ms")
    print(f"\n### Latency: {asked.rate:,} records/s, from produce to read_committed\n")
    print(
        figures.table(
            ["sink", "p50 ms", "p99 ms"],
            [
                [
                    name,
                    figures.spread([figures.percentile(each, 0.5) for each in found]),
                    figures.spread([figures.percentile(each, 0.99) for each in found]),
                ]
                for name, found in runs.items()
            ],
        )
    )


def _one_latency(
    asked: argparse.Namespace, spark: SparkSession, servers: str, rival: Contender
) -> list[float]:
    source, target = topics.new(servers, "in"), topics.new(servers, "out")
    query = rival.writer(throughput.source(spark, servers, source, None), target).start()
    try:
        with latency.probing(
            servers, source, target, asked.rate, asked.seconds, WARM_UP_SECONDS
        ) as probe:
            found = latency.latencies(probe)
        _say_slowest(query, WARM_UP_SECONDS / (WARM_UP_SECONDS + asked.seconds))
        return found
    finally:
        query.stop()


def _say_slowest(query: StreamingQuery, warm_up: float) -> None:
    """What the tail of the latencies is made of; of the batches after the share `warm_up`."""
    batches = [each for each in query.recentProgress if each.numInputRows]
    measured = batches[int(len(batches) * warm_up) :]
    measured.sort(key=lambda each: each.durationMs["triggerExecution"])
    for each in measured[-3:]:
        phases = {name: ms for name, ms in each.durationMs.items() if ms >= SLOW_PHASE_MS}
        _note(f"  batch {each.batchId}, {each.numInputRows} records: {phases}")


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

"""`make bench-dataflow`: CPU per record and records per second of programs on 2 cores.

Programs take turns, each round in another order, after a round that is thrown away: the JVM stays,
and what it has compiled. Report in Markdown on standard output.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import shutil
import sys
import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pyspark

from benchmarks import figures
from benchmarks.dataflow import native, programs, running, topics
from benchmarks.dataflow.programs import Ends, Subject
from headrace.datastream import StreamExecutionEnvironment
from headrace.runtime import memory
from workers.embedded import jars, kafka, ports

CORES = 2


def main() -> None:
    asked = _arguments()
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        home = Path(folder)
        port = ports.free()
        broker = kafka.start(home / "kafka", port, asked.jars)
        try:
            _Comparison(asked, kafka.bootstrap_servers(port), broker.pid, home).report()
        finally:
            kafka.stop(broker)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.dataflow", description=__doc__)
    parser.add_argument("--per-batch", type=int, default=100_000)
    parser.add_argument("--batches", type=int, default=6, help="measured in each run")
    parser.add_argument("--warm-up", type=int, default=3, help="batches before those")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="programs whose name has this in it")
    parser.add_argument("--memory", type=int, default=1024, help="MiB of the JVM's heap")
    parser.add_argument("--many-keys", action="store_true", help="5 million keys, and nothing else")
    parser.add_argument("--jars", type=Path, default=Path(".headrace/jars"))
    return parser.parse_args()


class _Comparison:
    def __init__(self, asked: argparse.Namespace, servers: str, broker: int, home: Path) -> None:
        self._asked = asked
        self._servers = servers
        self._machine = running.Machine(
            CORES,
            math.ceil(memory.DRIVER_OVERHEAD_MIB + asked.memory / memory.HEAP_SHARE),
            [str(path) for path in jars.resolve("spark", asked.jars)],
            home / "runs",
            asked.per_batch,
            without=(broker,),
            weighed=asked.many_keys,
        )
        self._topics: dict[tuple[int, int, int], str] = {}

    def report(self) -> None:
        asked = self._asked
        print(
            f"{os.cpu_count()} cores, Python {platform.python_version()}, Spark "
            f"{pyspark.__version__} on local[{CORES}], {asked.per_batch:,} records a batch, "
            f"{asked.rounds} rounds: median (least to greatest)\n"
        )
        if asked.many_keys:
            self._many_keys()
        else:
            self._programs()

    def _programs(self) -> None:
        subjects = [
            s for s in programs.SUBJECTS if not self._asked.only or self._asked.only in s.name
        ]
        runs: dict[str, list[running.Run]] = defaultdict(list)
        for number in range(-1, self._asked.rounds):
            at = number % len(subjects)
            for subject in subjects[at:] + subjects[:at]:
                found = self._run(subject, self._asked.batches if number >= 0 else 1)
                _note(f"{subject.name}: {found.micros:.1f} µs, {found.per_second:,.0f}/s")
                if number >= 0:
                    runs[subject.name].append(found)
        head = ["program", "CPU µs per record", "goal", "JVM's compilers, µs", "records/s"]
        print(figures.table(head, [_row(subject, runs[subject.name]) for subject in subjects]))

    def _many_keys(self) -> None:
        subject = programs.MANY_KEYS
        batches = subject.keys // self._asked.per_batch - self._asked.warm_up - 1
        found = self._run(subject, batches)
        rows = [
            ["records, each with a key of its own", f"{found.marks[-1].records:,}"],
            ["CPU µs per record, without the JVM's compilers", f"{found.micros:.1f}"],
            ["records/s", f"{found.per_second:,.0f}"],
            ["memory of driver, JVM and workers at most, MiB", f"{found.memory_mib:,.0f}"],
        ]
        print(figures.table([subject.name, ""], rows))

    def _run(self, subject: Subject, batches: int) -> running.Run:
        asked = self._asked
        each = asked.per_batch * (asked.warm_up + 1 + batches) // subject.inputs
        read = [self._topic(number, each, subject.keys) for number in range(subject.inputs)]
        try:
            if subject.build is None:
                return native.run(self._machine, self._servers, read[0], asked.warm_up)
            ends = Ends(self._servers, read, topics.new(self._servers, "out"))
            env = StreamExecutionEnvironment.get_execution_environment()
            subject.build(env.set_parallelism(CORES), ends)
            machine = replace(self._machine, per_batch=asked.per_batch // subject.inputs)
            return running.run(env.compile(subject.name), machine, asked.warm_up)
        finally:
            shutil.rmtree(self._machine.home, ignore_errors=True)

    def _topic(self, number: int, records: int, keys: int) -> str:
        which = number, records, keys
        if which not in self._topics:
            self._topics[which] = topics.preload(self._servers, records, keys)
        return self._topics[which]


def _row(subject: Subject, runs: list[running.Run]) -> list[str]:
    return [
        subject.name,
        figures.spread([run.micros for run in runs], 1),
        "" if subject.goal is None else f"{subject.goal:g}",
        figures.spread([run.compiler_micros for run in runs], 1),
        figures.spread([run.per_second for run in runs]),
    ]


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

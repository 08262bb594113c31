"""A driver's JVM tells about itself, and nobody has to ask it."""

from __future__ import annotations

import psutil
from pyspark.sql import SparkSession

from workers import jvm_counters
from workers.vitals import Gauge


def test_the_heap_of_sparks_jvm_is_known(spark: SparkSession) -> None:
    assert spark.range(1_000).count() == 1_000
    children = psutil.Process().children(recursive=True)
    [java] = [child for child in children if _is_sparks(child)]

    found = jvm_counters.of(java)

    assert found is not None
    assert 0 < found.heap_used <= found.heap_committed <= found.heap_max
    assert found.heap_max <= 1.1 * 2**30  # its driver's memory
    assert found.metaspace_used > 2**20
    assert found.classes_loaded > 1_000
    figures = Gauge().look([java.pid], 1_024)
    assert figures["Status.JVM.Memory.Heap.Used"] <= figures["Status.JVM.Memory.Heap.Max"]
    assert figures["Status.JVM.Memory.NonHeap.Used"] > 0
    assert figures["Status.JVM.GarbageCollector.All.Count"] >= 0


def _is_sparks(process: psutil.Process) -> bool:
    """Tests of Kafka have JVMs beside it."""
    return process.name() == "java" and "pyspark-shell" in process.cmdline()

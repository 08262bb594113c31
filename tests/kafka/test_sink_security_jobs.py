"""Jobs of a cluster that one has to sign in to, run by a real driver: they work, and tell nobody
what they sign in with."""

from __future__ import annotations

import contextlib
import json
import stat
import uuid
from collections.abc import Callable
from functools import reduce
from operator import and_
from pathlib import Path

import pytest

from headrace.runtime.kafka_brokers import Brokers
from headrace.wire import events, rundir
from tests.driving import DrivenJob, drive
from tests.kafka import brokers, secure
from tests.kafka.feeding import Administrator, produce
from tests.kafka.secure import SecureKafka

__all__ = ["drive"]

#: Prints Spark's plans once a batch has run, and fails at the value "poison".
PROGRAM = """
import json, os, sys, threading, time

from pyspark.sql import SparkSession

from headrace.common import SimpleStringSchema, WatermarkStrategy
from headrace.datastream import DeliveryGuarantee, StreamExecutionEnvironment
from headrace.datastream.connectors.kafka import (
    KafkaRecordSerializationSchema, KafkaSink, KafkaSource,
)

name, servers = sys.argv[1:]
security = json.loads(os.environ["JOB_SECURITY"])
env = StreamExecutionEnvironment.get_execution_environment()
env.enable_checkpointing(200)
source = (
    KafkaSource.builder().set_bootstrap_servers(servers).set_topics(name + ".in")
    .set_group_id(name).set_value_only_deserializer(SimpleStringSchema())
    .set_properties(security).build()
)
sink = (
    KafkaSink.builder().set_bootstrap_servers(servers)
    .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix(name)
    .set_record_serializer(
        KafkaRecordSerializationSchema.builder().set_topic(name + ".out")
        .set_value_serialization_schema(SimpleStringSchema()).build())
)
for key, value in security.items():
    sink.set_property(key, value)


def shout(value):
    if value == "poison":
        raise ValueError("not to be swallowed")
    return value.upper()


def print_plans():
    queries = []
    while not (queries and queries[0].lastProgress):
        time.sleep(0.2)
        session = SparkSession._instantiatedSession
        queries = session.streams.active if session else []
    # as in the thread of the query: what is redacted is a setting of the session
    session._jvm.SparkSession.setActiveSession(session._jsparkSession)
    query = queries[0]._jsq
    execution = query.streamingQuery()
    print(query.explainInternal(True), execution.toDebugString(True))
    print(execution.analyzedPlan().treeString(), execution.lastExecution().toString())
    print("all plans printed", flush=True)


threading.Thread(target=print_plans, daemon=True).start()
stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "in")
stream.map(shout).sink_to(sink.build())
env.execute()
"""


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("way", ["SCRAM-SHA-512", "certificate as text"])
def test_a_job_signs_in_and_keeps_the_secret(
    drive: Callable[..., DrivenJob], cluster: SecureKafka, tmp_path: Path, way: str
) -> None:
    servers, security = (
        (cluster.mutual_tls, cluster.mutual_text())
        if way.startswith("certificate")
        else (cluster.sasl_ssl, cluster.sasl(way))
    )
    name, log_of_spark = f"s{uuid.uuid4().hex[:8]}", tmp_path / "spark-events"
    log_of_spark.mkdir()
    Administrator(cluster.plain).create(f"{name}.in", f"{name}.out", partitions=2)
    produce(cluster.plain, f"{name}.in", ["a", "b"])
    job = drive(
        PROGRAM,
        *[name, servers],
        parallelism=1,
        environment={"JOB_SECURITY": json.dumps(security)},
        configuration={
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": log_of_spark.as_uri(),
            "spark.eventLog.compress": "false",
        },
    )
    job.start()
    job.until(lambda: brokers.visible(cluster.plain, f"{name}.out") == ["A", "B"])
    produce(cluster.plain, f"{name}.in", ["c"], partition=1)
    job.until(lambda: group_offsets(cluster, name) == {"0": 2, "1": 1})
    job.until(lambda: "all plans printed" in job.log())
    assert "MicroBatchScan" in job.log()
    assert_kept(job, cluster, log_of_spark)

    produce(cluster.plain, f"{name}.in", ["poison"])
    assert job.wait() == 1
    assert "not to be swallowed" in job.events()[-1].error
    assert isinstance(job.events()[-1], events.Failed)
    assert brokers.read(cluster.plain, f"{name}.out") == ["A", "B", "C"]
    assert_kept(job, cluster, log_of_spark)


def group_offsets(cluster: SecureKafka, name: str) -> dict[str, int] | None:
    topic = f"{name}.in"
    return Brokers(cluster.plain, {}).committed(name, {topic: [0, 1]}).get(topic)


def assert_kept(job: DrivenJob, cluster: SecureKafka, log_of_spark: Path) -> None:
    """What people look at tells no secret, and files that hold one are their owner's only."""
    key = (cluster.certificates / "client.key").read_text().splitlines()
    secrets = [secure.PASSWORD.partition('"')[0], secure.KEY_PASSWORD, key[len(key) // 2]]
    for path in (job.run_dir / rundir.LOG, job.run_dir / rundir.JOURNAL, *files(log_of_spark)):
        assert not any(secret in path.read_text() for secret in secrets), path
    holding = modes(job.folder, secrets)
    assert holding[job.run_dir / "sinks.pickle"] == 0o600
    assert {path for path, mode in holding.items() if mode & 0o077} == set()
    assert stat.S_IMODE((job.run_dir / "spark").stat().st_mode) == 0o700


def modes(folder: Path, secrets: list[str]) -> dict[Path, int]:
    """Of the files that hold a secret: what it, and the directories on the way to it, allow."""
    found = {}
    for path in files(folder):
        with contextlib.suppress(FileNotFoundError):  # Spark tidies up
            if any(secret.encode() in path.read_bytes() for secret in secrets):
                way = [path, *(each for each in path.parents if each.is_relative_to(folder))]
                found[path] = reduce(and_, (stat.S_IMODE(each.stat().st_mode) for each in way))
    return found


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]

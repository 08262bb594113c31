"""An embedded Kafka: one KRaft process, broker and controller, on this machine only."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from workers.embedded import jars, ports, process
from workers.embedded.process import Child

NAME = "kafka"
READY_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 30.0
REQUEST_TIMEOUT_SECONDS = 15.0

#: Small on purpose: an example's worth of data, on a machine that Spark needs.
JVM_OPTIONS = (
    "-Xms64m",
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:MaxMetaspaceSize=128m",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSZ",
)

#: One broker: everything has one replica, and a transaction needs no second to commit.
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "BROKER",
    "controller.listener.names": "CONTROLLER",
    "auto.create.topics.enable": "false",
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "8",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "8",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "log.cleaner.dedupe.buffer.size": str(4 * 1024 * 1024),
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "2",
}


class KafkaFailed(Exception):
    """The embedded Kafka did not start; its topics are untouched."""


def bootstrap_servers(port: int) -> str:
    return f"127.0.0.1:{port}"


def start(
    home: Path,
    port: int,
    jar_folder: Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> Child:
    """The broker of this home, found running or started; returns when it answers.

    `settings` are of the broker, beyond SETTINGS or instead of them.
    Raises KafkaFailed, and JarsMissing when its jars cannot be had."""
    child = process.find(NAME, home)
    if child is not None and process.wait_until(lambda: answers(port), child, 10):
        return child
    if child is not None:
        child.stop(STOP_TIMEOUT_SECONDS)
    if ports.taken(port):
        raise KafkaFailed(f"Port {port} is taken by another program; Kafka was not started.")
    class_path = ":".join(map(str, jars.resolve("kafka", jar_folder or home / "jars")))
    properties = _write_properties(home / NAME, port, settings or {})
    _format(class_path, properties)
    child = process.start(
        NAME, [_java(), *JVM_OPTIONS, "-cp", class_path, "kafka.Kafka", str(properties)], home
    )
    if not process.wait_until(lambda: answers(port), child, READY_TIMEOUT_SECONDS):
        child.stop(STOP_TIMEOUT_SECONDS)
        raise KafkaFailed(
            f"Kafka did not answer on port {port}. Its log says:\n{process.log_tail(NAME, home)}"
        )
    return child


def stop(child: Child) -> None:
    """An orderly shutdown: logs flushed, so that the next start need not read them through."""
    child.stop(STOP_TIMEOUT_SECONDS)


def answers(port: int) -> bool:
    """Whether a broker on that port serves metadata."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.5):
        try:
            return bool(_admin(bootstrap_servers(port)).list_topics(timeout=5).brokers)
        except KafkaException:
            return False
    return False


def ensure_topics(
    servers: str, topics: dict[str, int], settings: dict[str, str] | None = None
) -> None:
    """Create those of `topics` (name: partitions) that are not there; leave the others alone.

    Raises KafkaException. `settings` are for the new topics only."""
    admin = _admin(servers)
    there = admin.list_topics(timeout=REQUEST_TIMEOUT_SECONDS).topics
    new = [
        NewTopic(name, num_partitions=partitions, config=settings or {})
        for name, partitions in topics.items()
        if name not in there
    ]
    if new:
        for created in admin.create_topics(new).values():
            created.result(timeout=REQUEST_TIMEOUT_SECONDS)


def _admin(servers: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": servers, "log_level": 0})


def _write_properties(folder: Path, port: int, extra: Mapping[str, str]) -> Path:
    """The properties file, and from the first start on the cluster's id, in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    controller = f"127.0.0.1:{ports.free()}"
    settings = {
        **SETTINGS,
        "listeners": f"BROKER://127.0.0.1:{port},CONTROLLER://{controller}",
        "advertised.listeners": f"BROKER://127.0.0.1:{port}",
        "controller.quorum.voters": f"1@{controller}",
        "log.dirs": str(folder / "data"),
        **extra,
    }
    properties = folder / "server.properties"
    properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return properties


def _format(class_path: str, properties: Path) -> None:
    """Make the data folder a cluster's; one that is left as it is."""
    if (properties.parent / "data" / "meta.properties").exists():
        return
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
    command = [
        _java(),
        "-Xmx128m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        class_path,
    ]
    command += [
        "kafka.tools.StorageTool",
        "format",
        f"--cluster-id={cluster}",
        "-c",
        str(properties),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise KafkaFailed(f"Kafka's data folder could not be made:\n{done.stderr or done.stdout}")


def _java() -> str:
    """The one that Spark uses as well: JAVA_HOME's if set, else the first on PATH."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if java is None:
        raise KafkaFailed(
            "There is no `java` in JAVA_HOME or on PATH, so Kafka was not started; install Java 17 "
            "or newer."
        )
    return java

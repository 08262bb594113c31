"""One job on Spark with a sink of every kind, killed in the middle: all of them agree."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from confluent_kafka import Producer

from headrace.connectors.files import staging
from headrace.wire import events
from tests.driving import DrivenJob
from tests.kafka import brokers
from tests.twophase.postgresql import PASSWORD, Server

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs/exactly-once.md"
CHUNK = 400


def documented_sink() -> str:
    """The sink that the documentation shows."""
    [program] = re.findall(r"```python\n(# spool\.py.*?)```", DOCS.read_text(), re.DOTALL)
    return str(program)


class Mixed:
    """The job, its input, and what its sinks hold."""

    def __init__(self, folder: Path, servers: str, postgres: Server) -> None:
        self.servers = servers
        self.postgres = postgres
        self.source = brokers.new_topic(servers, 2)
        self.out = brokers.new_topic(servers, 2)
        self.letters = brokers.new_topic(servers, 1)
        self.files = folder / "files"
        self.spool = folder / "spool"
        self.table = f"mixed_{uuid.uuid4().hex[:8]}"
        postgres.execute(f"CREATE TABLE {self.table} (number bigint)")
        self.sent = 0
        self._producer = Producer({"bootstrap.servers": servers})
        self.entry = folder / "mixed_job.py"
        self.entry.write_text((HERE / "mixed_job.py").read_text())
        (folder / "spool.py").write_text(documented_sink())

    def arguments(self) -> list[str]:
        places = [self.source, self.out, self.letters, str(self.files)]
        return [*places, self.postgres.url, self.table, str(self.spool)]

    def send(self, count: int) -> None:
        """As many numbers, and a letter for each hundred."""
        for number in range(self.sent, self.sent + count):
            self._producer.produce(self.source, str(number), partition=number % 2)
            if number % 100 == 0:
                self._producer.produce(self.source, f"letter {number}", partition=0)
        self.sent += count
        assert self._producer.flush(30) == 0

    def in_files(self) -> list[int]:
        if not self.files.is_dir():
            return []
        found = [path for path in self.files.glob("*.parquet") if path.is_file()]
        return sorted(ds.dataset(found).to_table().column("number").to_pylist()) if found else []

    def in_topic(self) -> list[int]:
        return sorted(map(int, brokers.read(self.servers, self.out)))

    def in_table(self) -> list[int]:
        return sorted(int(str(n)) for (n,) in self.postgres.query(f"SELECT * FROM {self.table}"))

    def in_spool(self) -> list[int]:
        paths = self.spool.glob("*.done")
        return sorted(int(line) for path in paths for line in path.read_text().split())


@pytest.fixture
def mixed(kafka: str, postgres: Server, tmp_path: Path) -> Mixed:
    return Mixed(tmp_path, kafka, postgres)


@pytest.mark.timeout(1500)
def test_all_sinks_agree_after_a_kill(
    mixed: Mixed, drive: Callable[..., DrivenJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLE_PASSWORD", PASSWORD)
    job = drive(mixed.entry, *mixed.arguments(), kafka=mixed.servers)
    mixed.send(CHUNK)
    job.start()
    job.until(lambda: len(mixed.in_files()) >= CHUNK)
    mixed.send(CHUNK)
    time.sleep(0.3)  # somewhere in a batch, or between two: either must do
    job.kill()
    mixed.send(CHUNK)
    job.start()
    job.until(lambda: len(mixed.in_files()) >= mixed.sent)
    job.terminate()
    assert job.wait() == 0, job.log()

    wanted = list(range(mixed.sent))
    assert mixed.in_files() == wanted
    assert mixed.in_topic() == wanted
    assert mixed.in_table() == wanted
    assert mixed.in_spool() == wanted
    letters = brokers.read(mixed.servers, mixed.letters)
    assert letters == sorted(f"letter {n}" for n in range(0, mixed.sent, 100))
    assert re.search(r"^number(?::\d+)?> 1100$", job.log(), re.MULTILINE)
    # nothing is left: neither prepared nor hidden
    assert [gid for gid in mixed.postgres.prepared() if "-postgresql-writer-" in gid] == []
    hidden = list((mixed.files / staging.HIDDEN).glob("*/*-*"))
    assert all(path.name.endswith(staging.DONE) for path in hidden), hidden
    assert list(mixed.spool.glob("*.open")) == []
    # secrets are nowhere to be read
    run = job.events(events.Planned)[0]
    assert PASSWORD not in f"{run}{job.log()}"
    manifests = list((job.folder / "checkpoint").rglob("manifests/*.json"))
    assert manifests
    assert not any(PASSWORD in path.read_text() for path in manifests)


@pytest.mark.timeout(1200)
def test_a_job_that_fails_leaves_nothing_open(
    mixed: Mixed, drive: Callable[..., DrivenJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLE_PASSWORD", PASSWORD)
    mixed.postgres.execute(f"ALTER TABLE {mixed.table} ADD CHECK (number <> 250)")
    mixed.send(CHUNK)
    job = drive(mixed.entry, *mixed.arguments(), kafka=mixed.servers)

    assert job.run() == 1

    assert "violates check constraint" in job.events(events.Failed)[0].error
    # a reader that finds an open transaction would wait
    assert mixed.in_topic() == []
    assert mixed.in_files() == mixed.in_table() == mixed.in_spool() == []
    assert [gid for gid in mixed.postgres.prepared() if "-postgresql-writer-" in gid] == []
    assert list(mixed.spool.glob("*.open")) == []

"""A job is stopped with a savepoint and goes on elsewhere: every record counts once."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from headrace.wire import events, savepoint
from tests.chaos.flight_answers import committed
from tests.driving import DrivenJob, drive
from workers.embedded.kafka import ensure_topics

__all__ = ["drive"]

JOB = Path(__file__).with_name("savepoint_job.py")
KEYS = "abc"
INPUT, OUTPUT, BESIDE = (f"{name}-{uuid.uuid4().hex[:6]}" for name in ("in", "out", "beside"))


def send(kafka: str, topic: str, seconds: Iterable[int]) -> None:
    """One record of each key for each second."""
    producer = Producer({"bootstrap.servers": kafka})
    for second in seconds:
        for key in KEYS:
            producer.produce(topic, f"{key} {second}".encode(), key=key.encode())
    producer.flush()


def values(kafka: str, topic: str) -> list[str]:
    return sorted((record.value() or b"").decode() for record in committed(kafka, topic))


def counts(numbers: Iterable[int]) -> list[str]:
    return sorted(f"{key} {n}" for key in KEYS for n in numbers)


def made(job: DrivenJob) -> list[events.SavepointCompleted]:
    failed = job.events(events.SavepointFailed)
    assert not failed, failed
    return job.events(events.SavepointCompleted)


def prefixes(manifest: savepoint.Manifest) -> list[str]:
    """What the transactional ids of its sinks begin with, before the sink's own name."""
    return [root.removesuffix(f"-{name}") for name, root in manifest.sinks.items()]


def read(job: DrivenJob) -> int:
    """Records of the batches that this attempt has committed."""
    return sum(each.records_in for each in job.events(events.CheckpointCompleted))


@pytest.mark.timeout(1800)
def test_a_stopped_job_goes_on_from_its_savepoint_elsewhere(
    drive: Callable[..., DrivenJob], kafka: str, tmp_path: Path
) -> None:
    ensure_topics(kafka, dict.fromkeys((INPUT, OUTPUT, BESIDE), 2), {"retention.ms": "-1"})
    saved = tmp_path / "savepoints"
    arguments = ("--input", INPUT, "--output")

    # a savepoint while it runs, then one that ends it
    first = drive(JOB, *arguments, OUTPUT, kafka=kafka)
    send(kafka, INPUT, range(1, 11))
    first.start()
    first.until(lambda: read(first) == 30)
    first.savepoint(saved, "running", by="alice", reason="before the release")
    first.until(lambda: len(made(first)) == 1)
    send(kafka, INPUT, range(11, 21))
    first.savepoint(saved, "last", then="finished")
    assert first.wait() == 0, first.log()[-3000:]
    assert first.events()[-1] == events.Stopped("finished")
    running, last = made(first)
    done = len(values(kafka, OUTPUT))
    assert 30 <= done <= 60
    manifest = savepoint.verify(Path(running.path))
    assert (manifest.created_by, manifest.reason) == ("alice", "before the release")
    assert manifest.operators == {"count": 1, "hours": 1}
    assert manifest.checkpoint_id == running.checkpoint_id <= last.checkpoint_id
    assert not list(saved.glob(".*")), "nothing half made is left"

    # a later version of the program, with more slots, from where the savepoint was moved to
    moved = tmp_path / "moved" / "here it is"
    moved.parent.mkdir()
    shutil.move(last.path, moved)
    shutil.rmtree(first.folder / "checkpoint")
    second = drive(JOB, *arguments, OUTPUT, "--more", kafka=kafka, parallelism=3)
    second.restore = {"path": str(moved), "claim_mode": "CLAIM"}
    second.start()
    send(kafka, INPUT, range(21, 31))
    second.until(lambda: read(second) == 90 - done)
    assert plain(values(kafka, OUTPUT)) == counts(range(1, 31))
    second.until(lambda: bool(second.events(events.SavepointDisposed)))
    assert second.events(events.SavepointDisposed)[0].savepoint_id == last.savepoint_id
    assert not moved.exists()

    # beside it a copy of the first, with transactions of its own
    beside = drive(JOB, *arguments, BESIDE, kafka=kafka)
    beside.restore = {"path": running.path, "beside": True}
    beside.start()
    beside.until(lambda: read(beside) == 60)
    assert values(kafka, BESIDE) == counts(range(11, 31))
    beside.savepoint(saved, "beside")
    beside.until(lambda: len(made(beside)) == 1)
    copy = savepoint.read(Path(made(beside)[0].path))
    [prefix], [other] = prefixes(manifest), prefixes(copy)
    assert prefix == f"savepoints-{INPUT}"
    assert other.startswith(f"{prefix}-")
    beside.terminate()

    # drained: the windows that are open fire, and no record is lost or doubled
    second.savepoint(saved, "drained", then="finished", drain=True)
    assert second.wait() == 0, second.log()[-3000:]
    assert second.events()[-1] == events.Stopped("finished")
    found = values(kafka, OUTPUT)
    assert plain(found) == counts(range(1, 31))
    assert [each for each in found if "hour" in each] == [f"{key} hour 30" for key in KEYS]
    assert len([each for each in found if each.startswith("again")]) == 90 - done
    assert beside.wait() == 0, beside.log()[-3000:]
    assert values(kafka, BESIDE) == counts(range(11, 31))

    # neither that one nor what is damaged starts anything
    refused(drive, made(second)[0].path, "event time is at its end")
    damage(Path(running.path))
    refused(drive, running.path, "has another content than was saved")


def plain(found: list[str]) -> list[str]:
    return [each for each in found if "hour" not in each and "again" not in each]


def damage(directory: Path) -> None:
    """One bit of the largest file."""
    files = [path for path in (directory / savepoint.CONTENT).rglob("*") if path.is_file()]
    largest = max(files, key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)


def refused(drive: Callable[..., DrivenJob], path: str, why: str) -> None:
    job = drive(JOB, "--input", INPUT, "--output", OUTPUT)
    job.restore = {"path": path}
    assert job.run() == 1
    failed: Any = job.events()[-1]
    assert isinstance(failed, events.Failed), job.events()
    assert why in failed.error
    assert not failed.restartable
    assert not job.events(events.Planned)
    assert not (job.folder / "checkpoint").exists()

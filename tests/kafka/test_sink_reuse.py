"""Producers write one transaction after the other, and none is ended by what was meant for the
one before."""

from __future__ import annotations

import shutil
import threading
import uuid
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from headrace.connectors.kafka import answers, ending, producers
from headrace.connectors.kafka.answers import Answer
from headrace.connectors.kafka.committer import Committer
from headrace.connectors.kafka.coordinator import coordinator_for
from headrace.connectors.kafka.messages import PreparedTransaction, Resume, TaskIdentity
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.kafka.writer import open_writer
from headrace.connectors.twophase.deadline import Deadline
from headrace.connectors.twophase.manifest import Manifest, ManifestStore
from tests.kafka import brokers

PARTITIONS = 3


def sink_of(servers: str) -> SinkSettings:
    return SinkSettings(
        "out",
        servers,
        topic=brokers.new_topic(servers),
        guarantee=DeliveryGuarantee.EXACTLY_ONCE,
        transactional_id_prefix=f"job-{uuid.uuid4().hex[:8]}",
        transaction_timeout_ms=120_000,
    )


@dataclass
class Job:
    """A driver, and its tasks in the same process."""

    sink: SinkSettings
    directory: Path
    resume: Resume = field(default_factory=Resume)
    written: list[str] = field(default_factory=list)

    def recover(self) -> None:
        self.resume = self.committer().recover().resume

    def committer(self) -> Committer:
        return Committer([self.sink], self.directory, self.resume)

    def task(self, batch: int, partition: int, attempt: int = 0) -> PreparedTransaction:
        """Prepares one record."""
        value = f"{batch}-{partition}-{attempt}"
        resume = replace(self.resume, ended=self.committer().ended())
        writer = open_writer(self.sink, TaskIdentity(batch, partition, attempt), resume)
        writer.write([{"value": value.encode()}])
        prepared = writer.prepare()
        assert isinstance(prepared, PreparedTransaction)
        return prepared

    def commit(self, batch: int, prepared: list[PreparedTransaction]) -> None:
        self.committer().commit(batch, prepared)
        self.written += [f"{batch}-{each.partition}-{each.attempt}" for each in prepared]

    def batch(self, number: int) -> list[PreparedTransaction]:
        prepared = [self.task(number, partition) for partition in range(PARTITIONS)]
        self.commit(number, prepared)
        return prepared

    def check(self) -> None:
        """What was committed is there, once, and nothing is open."""
        brokers.wait_until_none_open(self.sink, 5)
        assert brokers.read(self.sink.bootstrap_servers, str(self.sink.topic)) == sorted(
            self.written
        )


@pytest.fixture
def job(kafka: str, tmp_path: Path) -> Job:
    job = Job(sink_of(kafka), tmp_path / "job")
    job.recover()
    return job


def producer(prepared: PreparedTransaction) -> tuple[str, int, int]:
    return prepared.transactional_id, prepared.producer_id, prepared.producer_epoch


def begun_again(job: Job) -> tuple[int, list[PreparedTransaction]]:
    """A batch to be committed, of which a producer wrote the one before, too: it is ready again in
    time for it as a rule."""
    before: set[tuple[str, int, int]] = set()
    for number in range(1, 40):
        written = [job.task(number, partition) for partition in range(PARTITIONS)]
        used = {producer(each) for each in written}
        if used & before:
            return number, written
        job.commit(number, written)
        before = used
    raise AssertionError("no producer was used again")


def test_a_producer_writes_in_many_batches(job: Job) -> None:
    used = [producer(each) for number in range(12) for each in job.batch(number)]

    assert len(used) == 12 * PARTITIONS
    assert len(set(used)) <= 6 * PARTITIONS  # without reuse: as many as transactions
    job.check()


def test_a_straggler_is_neither_committed_nor_used_again(job: Job) -> None:
    """Its task prepared, but its message was dropped: nobody may end it by beginning anew."""
    job.batch(0)
    straggler = job.task(1, 0, attempt=1)
    job.batch(1)
    used = [producer(each) for number in range(2, 8) for each in job.batch(number)]

    assert producer(straggler) not in used
    job.check()


def test_what_was_asked_for_twice_is_not_used_again(job: Job) -> None:
    """The first request may still arrive."""
    first = [job.task(0, partition) for partition in range(PARTITIONS)]
    (manifests := ManifestStore(job.directory)).create(_manifest(job, first))
    job.commit(0, first)
    used = [producer(each) for number in range(1, 6) for each in job.batch(number)]

    assert manifests.reusable(job.resume.epoch)
    assert not {producer(each) for each in first}.intersection(used)
    job.check()


def test_a_late_end_of_the_last_batch_hits_nothing(job: Job) -> None:
    """Whoever recovers ends what has no `.done` file: transactions whose names were not used
    again. Here the driver died before it wrote that file."""
    last = [job.task(0, partition) for partition in range(PARTITIONS)]
    job.commit(0, last)
    for path in job.directory.glob("headrace/manifests/*.done"):
        path.unlink()

    open_again = [job.task(1, partition) for partition in range(PARTITIONS)]
    assert not {producer(each) for each in last} & {producer(each) for each in open_again}
    codes = coordinator_for(job.sink).end(last, commit=True)

    assert set(codes.values()) <= {0, 47, 51, 90}
    job.committer().abort(1, open_again)
    job.check()


def test_a_driver_that_lost_the_job_uses_nothing_again(job: Job) -> None:
    job.batch(0)
    assert job.committer().ended()
    other = Job(job.sink, job.directory)
    other.recover()

    assert job.committer().ended() == {}
    assert other.committer().ended() == {}, "the epoch is another one"


def test_a_copy_made_within_a_commit_does_not_end_what_the_original_writes(
    job: Job, tmp_path: Path
) -> None:
    job.batch(0)
    shutil.copytree(job.directory, tmp_path / "copy")
    for path in (tmp_path / "copy").glob("headrace/manifests/*.done"):
        path.unlink()
    prefix = f"job-{uuid.uuid4().hex[:8]}"
    copy = Job(replace(job.sink, transactional_id_prefix=prefix), tmp_path / "copy")
    number, written = begun_again(job)

    # The copy waits for what is open in the marker topic, which is not its own.
    end = threading.Timer(2, job.commit, (number, written))
    end.start()
    copy.recover()
    end.join()

    assert copy.resume.committed == {("out", partition): 1 for partition in range(PARTITIONS)}
    job.check()


def test_a_moved_checkpoint_finds_what_was_committed_and_what_not(job: Job, tmp_path: Path) -> None:
    prepared = [job.task(0, partition) for partition in range(PARTITIONS)]
    ManifestStore(job.directory).create(_manifest(job, prepared))
    coordinator_for(job.sink).end(prepared[:1], commit=True)
    job.committer().release()
    job.directory.rename(tmp_path / "moved")

    moved = Job(job.sink, tmp_path / "moved")
    moved.recover()

    assert moved.resume.committed == {("out", 0): 1}
    assert moved.resume.missing == {("out", 1): 1, ("out", 2): 1}
    moved.written = ["0-0-0"]
    moved.check()


def test_none_for_the_transaction_before_is_no_answer(job: Job) -> None:
    """What a coordinator says that has not heard of the newest one: its state is the one before's,
    whose producer id and epoch are the same."""
    job.batch(0)
    last = job.batch(1)
    coordinator = coordinator_for(job.sink)

    again = ending.end_all(coordinator, last, Deadline.after(60), commit=True)
    assert set(again.values()) == {Answer.DONE}
    assert set(coordinator.end(last, commit=True, only_open=True).values()) == {answers.NOT_OPEN}


def test_a_recovery_asks_the_marker_where_nothing_was_open(job: Job) -> None:
    """A manifest whose transactions were never open again: the answer to EndTxn is NONE, because
    their producers committed in the batch before."""
    last = job.batch(0)
    forgotten = [replace(each, batch_id=1) for each in last]
    ManifestStore(job.directory).create(_manifest(job, forgotten))

    job.recover()

    assert job.resume.committed == {}
    assert job.resume.missing == {("out", partition): 1 for partition in range(PARTITIONS)}
    job.check()


def test_the_mark_of_a_manifest_that_was_removed_does_not_skip_a_commit(job: Job) -> None:
    job.batch(0)
    job.batch(1)
    for path in job.directory.glob("headrace/manifests/*1-0.json"):
        path.unlink()
    other = Job(job.sink, job.directory, written=job.written)
    other.recover()
    other.batch(1)
    other.check()


@pytest.mark.parametrize(("option", "limit"), [("100", 0.05), ("10", 0.005)])
def test_it_waits_for_no_repeated_request(job: Job, option: str, limit: float) -> None:
    """librdkafka would repeat it after that backoff."""
    sink = replace(job.sink, options={"retry.backoff.ms": option})
    opened = producers.open_producer(sink, f"{sink.id_root}-9.00000000-0")
    assert opened._again_seconds == limit
    assert not opened.ready_again(), "it has begun none"


def _manifest(job: Job, prepared: list[PreparedTransaction]) -> Manifest:
    return Manifest(
        batch_id=prepared[0].batch_id or 0,
        number=0,
        epoch=job.resume.epoch,
        prepared=[each.sealed() for each in prepared],
        sinks=["out"],
        ledgers=job.resume.ledgers,
    )

"""Two jobs that were given the same transactional id prefix, on a real broker."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from headrace.connectors.kafka import errors
from headrace.connectors.kafka.committer import Committer
from headrace.connectors.kafka.coordinator import coordinator_for
from headrace.connectors.kafka.messages import TaskIdentity
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.kafka.writer import open_writer
from headrace.connectors.twophase import claims
from headrace.connectors.twophase import committer as twophase
from tests.kafka import brokers


@pytest.fixture
def settings(kafka: str) -> SinkSettings:
    return SinkSettings(
        "out",
        kafka,
        brokers.new_topic(kafka, 1),
        DeliveryGuarantee.EXACTLY_ONCE,
        f"job-{uuid.uuid4().hex[:8]}",
    )


@contextmanager
def kept_alive(job: Committer) -> Iterator[None]:
    """The job renews its claim, as one with batches does."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(0.2):
            job.hold()

    thread = threading.Thread(target=renew)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def write(job: Committer, settings: SinkSettings, batch: int, value: bytes) -> None:
    writer = open_writer(settings, TaskIdentity(batch, 0), job.resume)
    writer.write([{"value": value}])
    job.commit(batch, [writer.prepare()])


def test_a_second_job_is_refused_and_the_first_goes_on(
    settings: SinkSettings, tmp_path: Path
) -> None:
    first = Committer([settings], tmp_path / "first")
    first.recover()
    writer = open_writer(settings, TaskIdentity(0, 0), first.resume)
    writer.write([{"value": b"one"}])
    prepared = writer.prepare()

    with (
        kept_alive(first),
        pytest.raises(errors.PrefixInUse, match=rf"{settings.transactional_id_prefix}.*/first"),
    ):
        Committer([settings], tmp_path / "second").recover()

    # Its open transaction was not touched.
    first.commit(0, [prepared])
    assert brokers.read(settings.bootstrap_servers, str(settings.topic)) == ["one"]
    # Nor is there a second job that believes in an epoch of its own.
    assert not (tmp_path / "second" / "headrace" / "owners").exists()


def test_the_same_job_starts_again_at_once(
    settings: SinkSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_seconds: float) -> None:
        raise AssertionError("it waited")

    Committer([settings], tmp_path).recover()
    monkeypatch.setattr(claims, "sleep", never)
    Committer([settings], tmp_path).recover()


def test_a_job_that_is_gone_is_taken_over_and_stops_if_it_comes_back(
    settings: SinkSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "SHORTEST_LEASE_SECONDS", 1.0)
    monkeypatch.setattr(twophase, "SWEEP_SECONDS", 0.0)
    first = Committer([settings], tmp_path / "first")
    first.recover()
    second = Committer([settings], tmp_path / "second")
    second.recover()
    write(second, settings, 0, b"second")

    with pytest.raises(errors.PrefixInUse, match="/second"):
        first.hold()
    with pytest.raises(errors.PrefixInUse, match="/second"):
        write(first, settings, 0, b"first")


def test_a_job_that_ended_on_purpose_is_not_waited_for(
    settings: SinkSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "POLL_SECONDS", 1000.0)
    first = Committer([settings], tmp_path / "first")
    first.recover()
    first.release()
    Committer([settings], tmp_path / "second").recover()


def test_another_prefix_may_give_the_same_ids(settings: SinkSettings, tmp_path: Path) -> None:
    prefix = settings.transactional_id_prefix
    left = replace(settings, transactional_id_prefix=f"{prefix}-a", name="b")
    right = replace(settings, transactional_id_prefix=prefix, name="a-b")
    assert left.id_root == right.id_root
    first = Committer([left], tmp_path / "left")
    first.recover()
    with kept_alive(first), pytest.raises(errors.PrefixInUse, match=f"{prefix}-a-b"):
        Committer([right], tmp_path / "right").recover()


def test_claims_do_not_disturb_the_markers(settings: SinkSettings, tmp_path: Path) -> None:
    job = Committer([settings], tmp_path)
    job.recover()
    before = brokers.read(settings.bootstrap_servers, settings.marker_topic)
    for _ in range(3):
        job.hold()
    assert brokers.read(settings.bootstrap_servers, settings.marker_topic) == before
    group = f"headrace-prefix-{settings.transactional_id_prefix}"
    notes = coordinator_for(settings).read_notes(settings.marker_topic, [group])
    claim = claims.Claim.from_text(notes[group])
    assert claim is not None
    assert claim.checkpoint == str(tmp_path)


def left_open(settings: SinkSettings, place: Path) -> None:
    writer = open_writer(
        settings, TaskIdentity(0, 0), Committer([settings], place).recover().resume
    )
    writer.write([{"value": b"no"}])
    writer.prepare()
    assert len(brokers.open_ids(settings)) == 1


def test_what_is_open_under_the_former_prefix_ends_with_the_change(
    settings: SinkSettings, tmp_path: Path
) -> None:
    left_open(settings, tmp_path)
    renamed = replace(settings, transactional_id_prefix=f"{settings.transactional_id_prefix}-new")

    assert Committer([renamed], tmp_path).recover().aborted == 1

    assert brokers.open_ids(settings) == []


def test_a_former_prefix_that_another_job_has_is_left_alone(
    settings: SinkSettings, tmp_path: Path
) -> None:
    first = Committer([settings], tmp_path / "first")
    first.recover()
    first.release()
    left_open(settings, tmp_path / "second")
    renamed = replace(settings, transactional_id_prefix=f"{settings.transactional_id_prefix}-new")
    for _ in range(3):  # its epoch is past the other job's
        Committer([renamed], tmp_path / "first").recover()
    assert len(brokers.open_ids(settings)) == 1
    Committer([settings], tmp_path / "second").recover()

"""What a driver refuses before it runs a batch, and where it stops rather than guess."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource

from headrace.connectors.kafka import errors, sign_in
from headrace.connectors.kafka.committer import Committer
from headrace.connectors.kafka.messages import TaskIdentity
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.kafka.writer import Prepared, open_writer
from headrace.connectors.twophase.manifest import ManifestStore
from headrace.connectors.twophase.ownership import OwnerStore
from tests.kafka import brokers
from workers.embedded import ports
from workers.embedded.kafka import ensure_topics


@pytest.fixture
def settings(kafka: str) -> SinkSettings:
    """With a topic of markers of its own, because some tests take it away."""
    return SinkSettings(
        "out",
        kafka,
        topic=brokers.new_topic(kafka),
        guarantee=DeliveryGuarantee.EXACTLY_ONCE,
        transactional_id_prefix=f"job-{uuid.uuid4().hex[:8]}",
        marker_topic=f"markers-{uuid.uuid4().hex[:8]}",
    )


def prepared_batch(settings: SinkSettings, committer: Committer, batch: int) -> list[Prepared]:
    messages = []
    for partition in range(2):
        writer = open_writer(settings, TaskIdentity(batch, partition), committer.resume)
        writer.write([{"value": f"{batch}-{partition}".encode()}])
        message = writer.prepare()
        assert message is not None
        messages.append(message)
    return messages


def decided_and_gone(settings: SinkSettings, directory: Path) -> None:
    """The last driver created the manifest of batch 0 and died; then all of it timed out."""
    committer = Committer([settings], directory)
    committer.recover()
    messages = prepared_batch(settings, committer, 0)
    committer.abort(0, messages)
    with pytest.raises(errors.CommitIncomplete, match="2 of 2 transactions"):
        committer.commit(0, messages)


def test_a_timeout_above_the_brokers_maximum(settings: SinkSettings, tmp_path: Path) -> None:
    longer = replace(settings, transaction_timeout_ms=3_600_000)
    with pytest.raises(errors.InvalidSettings, match=r"3600000 ms is above .* 900000 ms"):
        Committer([longer], tmp_path).recover()
    assert OwnerStore(tmp_path).newest() == 0


def test_a_marker_topic_that_forgets(settings: SinkSettings, kafka: str, tmp_path: Path) -> None:
    ensure_topics(kafka, {settings.marker_topic: 1})
    with pytest.raises(errors.InvalidSettings, match=r"cleanup\.policy=delete"):
        Committer([settings], tmp_path).recover()


def test_the_marker_topic_is_compacted_soon(settings: SinkSettings, tmp_path: Path) -> None:
    Committer([settings], tmp_path).recover()
    admin = AdminClient({"bootstrap.servers": settings.bootstrap_servers})
    resource = ConfigResource(ConfigResource.Type.TOPIC, settings.marker_topic)
    found = admin.describe_configs([resource])[resource].result()
    assert found["cleanup.policy"].value == "compact"
    assert int(found["segment.bytes"].value) <= 64 * 1024 * 1024
    assert int(found["segment.ms"].value) <= 3_600_000


def test_a_cluster_that_does_not_answer(
    settings: SinkSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "PATIENCE_SECONDS", 1.0)
    nowhere = replace(settings, bootstrap_servers=f"127.0.0.1:{ports.free()}")
    with pytest.raises(errors.ClusterUnreachable):
        Committer([nowhere], tmp_path).recover()


def test_what_timed_out_is_missing(settings: SinkSettings, tmp_path: Path) -> None:
    decided_and_gone(settings, tmp_path)
    committer = Committer([settings], tmp_path)
    assert not committer.is_current()

    found = committer.recover()

    assert found.counts() == {"recommitted": 0, "aborted": 0, "recomputed": 2}
    assert committer.is_current()
    committer.commit(0, prepared_batch(settings, committer, 0))
    assert [each.number for each in ManifestStore(tmp_path).newest_batch()] == [0, 1]
    assert brokers.read(settings.bootstrap_servers, str(settings.topic)) == ["0-0", "0-1"]


def test_without_manifest_answer_and_marker_nobody_knows(
    settings: SinkSettings, kafka: str, tmp_path: Path
) -> None:
    decided_and_gone(settings, tmp_path)
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.delete_topics([settings.marker_topic])[settings.marker_topic].result()

    with pytest.raises(errors.OutcomeUnknown, match="1 records; the topic of the batch markers"):
        Committer([settings], tmp_path).recover()

    # What Spark has in its own commit log needs no answer.
    assert Committer([settings], tmp_path).recover(completed=0).recomputed == 0


def test_a_sink_that_is_gone_with_its_transactions(settings: SinkSettings, tmp_path: Path) -> None:
    decided_and_gone(settings, tmp_path)
    other = replace(settings, name="other")
    with pytest.raises(errors.OutcomeUnknown, match="wrote to sink 'out'"):
        Committer([other], tmp_path).recover()


def test_a_checkpoint_older_than_the_manifests(settings: SinkSettings, tmp_path: Path) -> None:
    committer = Committer([settings], tmp_path)
    committer.recover()
    committer.commit(5, prepared_batch(settings, committer, 5))
    with pytest.raises(errors.CheckpointReplaced, match="batch 3, manifest 5"):
        committer.commit(3, prepared_batch(settings, committer, 3))
    brokers.wait_until_none_open(settings, 5)
    assert brokers.read(settings.bootstrap_servers, str(settings.topic)) == ["5-0", "5-1"]


def test_tasks_that_write_a_batch_that_is_out(settings: SinkSettings, tmp_path: Path) -> None:
    first = Committer([settings], tmp_path)
    first.recover()
    first.commit(0, prepared_batch(settings, first, 0))
    second = Committer([settings], tmp_path)
    resume = second.recover().resume

    # In one partition now, where there were two.
    skipped = open_writer(settings, TaskIdentity(0, 0), resume)
    skipped.write([{"value": b"again"}, {"value": b"again"}])
    message = skipped.prepare()
    assert message is not None
    assert (message.count, getattr(message, "skipped", False)) == (2, True)
    second.commit(0, [message])
    # A task that does not know better (it lost its `resume`) is found out.
    second.resume = replace(resume, committed={}, batch_id=None)
    careless = prepared_batch(settings, second, 0)
    second.resume = resume
    with pytest.raises(errors.ChangedRecords):
        second.commit(0, careless)

    brokers.wait_until_none_open(settings, 5)
    assert brokers.read(settings.bootstrap_servers, str(settings.topic)) == ["0-0", "0-1"]

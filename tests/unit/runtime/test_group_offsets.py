"""Offsets of a group: what a broker refuses for single partitions is no success."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from confluent_kafka import KafkaError, TopicPartition

from headrace.runtime import group_commits, kafka_brokers
from headrace.runtime.errors import JobFailed
from headrace.runtime.group_commits import FAILED, SUCCEEDED, GroupCommits
from headrace.runtime.kafka_brokers import Brokers


class Answer:
    """A TopicPartition as the client answers it; the real one's `error` cannot be set."""

    def __init__(self, partition: int, offset: int, code: int | None = None) -> None:
        self.topic, self.partition, self.offset = "a", partition, offset
        self.error = None if code is None else KafkaError(code)


class Group:
    """Stands for the client's Consumer."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = answers
        self.commits: list[dict[int, int]] = []
        self.asked = threading.Event()

    def __call__(self, options: dict[str, Any]) -> Group:
        return self

    def committed(self, asked: list[TopicPartition], timeout: float) -> tuple[Answer, ...]:
        return self.answers

    def commit(self, offsets: list[TopicPartition], asynchronous: bool) -> tuple[Answer, ...]:
        self.commits.append({each.partition: each.offset for each in offsets})
        self.asked.set()
        return self.answers

    def close(self) -> None:
        pass


def test_a_commit_that_is_refused_in_part_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Group(Answer(0, 4), Answer(1, 4, KafkaError.GROUP_AUTHORIZATION_FAILED))
    monkeypatch.setattr(group_commits, "Consumer", group)
    commits = GroupCommits("broker:9092", "mine", {}, every_ms=None)
    commits.offer({"a": {"0": 4, "1": 4}})
    assert group.asked.wait(240)
    commits.close()
    counted = commits.take_counts()
    assert counted.get(FAILED, 0) >= 1
    assert SUCCEEDED not in counted
    assert commits.committed == {}


def test_an_offset_that_cannot_be_told_is_not_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def committed(*answers: Answer) -> Any:
        monkeypatch.setattr(kafka_brokers, "Consumer", Group(*answers))
        return Brokers("127.0.0.1:1", {}).committed("mine", {"a": [0, 1, 2]})

    gone = Answer(2, -1001, KafkaError.UNKNOWN_TOPIC_OR_PART)
    assert committed(Answer(0, 4), Answer(1, -1001), gone) == {"a": {"0": 4}}
    with pytest.raises(JobFailed, match="does not answer"):
        committed(Answer(0, 4), Answer(1, -1001, KafkaError.COORDINATOR_NOT_AVAILABLE))
    with pytest.raises(JobFailed, match=r"does not allow the job .*GROUP_AUTHORIZATION_FAILED"):
        committed(Answer(0, -1001, KafkaError.GROUP_AUTHORIZATION_FAILED))

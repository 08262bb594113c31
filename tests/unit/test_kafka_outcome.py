"""What recovery concludes, and what tasks make of it."""

from __future__ import annotations

import pytest

from headrace.connectors.kafka import errors, outcome
from headrace.connectors.kafka.manifest import Manifest
from headrace.connectors.kafka.markers import Marker, parse, value
from headrace.connectors.kafka.messages import PreparedTransaction, Resume, TaskIdentity


def prepared(partition: int, number: int = 0, sink: str = "out") -> PreparedTransaction:
    name = f"job-{sink}-1.0123abcd-{number}"
    return PreparedTransaction(sink, partition, name, 4000 + number, 3, count=10 + partition)


def marker_of(transaction: PreparedTransaction, batch_id: int = 7) -> Marker:
    return parse(value(batch_id, transaction))


def manifest(number: int, *transactions: PreparedTransaction) -> Manifest:
    return Manifest(7, number, 1, list(transactions), ["out"])


def test_its_own_marker_proves_a_commit() -> None:
    assert outcome.settle(prepared(0), marker_of(prepared(0)), marker_topic_kept=True)
    # Even when the topic was made anew: the marker was written to the new one.
    assert outcome.settle(prepared(0), marker_of(prepared(0)), marker_topic_kept=False)


def test_no_marker_or_an_older_one_proves_that_there_was_none() -> None:
    older = marker_of(prepared(0, number=9), batch_id=6)
    assert not outcome.settle(prepared(0), None, marker_topic_kept=True)
    assert not outcome.settle(prepared(0), older, marker_topic_kept=True)


def test_another_attempt_at_the_same_batch_proves_nothing_about_this_one() -> None:
    again = marker_of(prepared(0, number=1))
    assert not outcome.settle(prepared(0), again, marker_topic_kept=True)


def test_without_the_marker_topic_nobody_knows() -> None:
    with pytest.raises(errors.OutcomeUnknown, match="partition 0, 10 records"):
        outcome.settle(prepared(0), None, marker_topic_kept=False)


def test_leftovers_are_what_is_open_and_what_nobody_fenced() -> None:
    listed = [
        ("job-out-1.aaaaaaaa-0", False),
        ("job-out-1.aaaaaaaa-1", True),
        ("job-out-2.bbbbbbbb-0", False),
        ("job-out-3.cccccccc-0", True),
        ("job-out-4.dddddddd-0", True),
        ("job-outer-1.eeeeeeee-0", True),
    ]
    found = outcome.leftovers(listed, "job-out", fenced_before=2, below=4)
    # Epoch 1 was fenced by the recovery of epoch 2, but one of its stragglers wrote again.
    assert found == ["job-out-1.aaaaaaaa-1", "job-out-2.bbbbbbbb-0", "job-out-3.cccccccc-0"]


def test_before_the_first_manifest_nothing_is_to_be_resumed() -> None:
    resume = outcome.resume_after([], set(), 1, {"out": "id"})
    assert resume == Resume(epoch=1, marker_topics={"out": "id"})
    assert not resume.is_committed(TaskIdentity(0, 0), "out")
    assert resume.expected_count(TaskIdentity(0, 0), "out") is None


def test_a_batch_that_is_committed_as_a_whole_is_read_and_not_written() -> None:
    both = manifest(0, prepared(0), prepared(1))
    resume = outcome.resume_after([both], set(both.prepared), 2, {})
    # Also a partition that had no records then, whatever it has now: the batch is out.
    for partition in (0, 1, 2):
        assert resume.is_committed(TaskIdentity(7, partition), "out")
        assert resume.expected_count(TaskIdentity(7, partition), "out") is None
    assert not resume.is_committed(TaskIdentity(8, 0), "out")
    # A sink that the job did not have then gets all of it.
    assert not resume.is_committed(TaskIdentity(7, 0), "new")


def test_in_a_half_committed_batch_the_missing_partitions_are_written() -> None:
    both = manifest(0, prepared(0), prepared(1))
    resume = outcome.resume_after([both], {prepared(0)}, 2, {})
    assert resume.number == 1
    assert resume.is_committed(TaskIdentity(7, 0), "out")
    assert not resume.is_committed(TaskIdentity(7, 1), "out")
    counts = [resume.expected_count(TaskIdentity(7, partition), "out") for partition in range(3)]
    assert counts == [10, 11, 0]
    assert resume.expected_count(TaskIdentity(8, 0), "out") is None
    assert resume.expected_count(TaskIdentity(7, 0), "new") is None


def test_what_a_second_manifest_committed_is_no_longer_missing() -> None:
    first = manifest(0, prepared(0), prepared(1))
    second = manifest(1, prepared(1, number=5))
    resume = outcome.resume_after([first, second], {prepared(0), prepared(1, number=5)}, 3, {})
    assert resume.missing == {}
    assert resume.number == 2
    assert resume.is_committed(TaskIdentity(7, 1), "out")

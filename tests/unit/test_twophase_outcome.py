"""What recovery concludes, and what tasks make of it."""

from __future__ import annotations

from headrace.connectors.twophase import outcome
from headrace.connectors.twophase.manifest import Manifest
from headrace.connectors.twophase.messages import Prepared, Resume, TaskIdentity


def prepared(partition: int, number: int = 0, sink: str = "out") -> Prepared:
    return Prepared(sink, partition, 10 + partition, {"id": f"{sink}-{number}"}, attempt=number)


def manifest(number: int, *transactions: Prepared) -> Manifest:
    return Manifest(7, number, 1, list(transactions), ["out"])


def test_before_the_first_manifest_nothing_is_to_be_resumed() -> None:
    resume = outcome.resume_after([], set(), 1, {"out": "id"})
    assert resume == Resume(epoch=1, ledgers={"out": "id"})
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

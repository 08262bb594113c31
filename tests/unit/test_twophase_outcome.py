"""What recovery concludes, and what tasks make of it."""

from __future__ import annotations

from headrace.connectors.twophase import outcome
from headrace.connectors.twophase.manifest import Manifest
from headrace.connectors.twophase.messages import Prepared, Resume, TaskIdentity, Written


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


def skipped(partition: int, count: int, sink: str = "out") -> Written:
    return Written(sink, partition, count, skipped=True)


def test_a_committed_batch_has_as_many_records_when_it_is_run_again() -> None:
    both = manifest(0, prepared(0), prepared(1))
    resume = outcome.resume_after([both], set(both.prepared), 2, {})
    assert outcome.differences(resume, [skipped(0, 10), None, skipped(1, 11)], {"out"}) == []
    # The parallelism may be another one by now.
    assert outcome.differences(resume, [skipped(0, 21)], {"out"}) == []
    more = [skipped(0, 10), skipped(1, 11), skipped(2, 3)]
    assert outcome.differences(resume, more, {"out"}) == [
        "sink out: 21 records committed then, 24 of them now"
    ]
    assert outcome.differences(resume, [prepared(0), prepared(1)], {"out"})[:1] == [
        "sink out, partition 0: written again"
    ]


def test_a_batch_that_had_no_records_has_none_when_it_is_run_again() -> None:
    empty = Manifest(7, 0, 1, [], ["out"], {"out": "id"})
    resume = outcome.resume_after([empty], set(), 2, {})
    assert outcome.differences(resume, [], {"out"}) == []
    assert outcome.differences(resume, [skipped(0, 1)], {"out"})


def test_a_committed_partition_that_is_not_there_any_more_is_missed() -> None:
    both = manifest(0, prepared(0), prepared(1))
    resume = outcome.resume_after([both], {prepared(0)}, 2, {})
    assert outcome.differences(resume, [skipped(0, 10), prepared(1)], {"out"}) == []
    assert outcome.differences(resume, [prepared(1)], {"out"})


def test_records_of_a_sink_that_was_not_transactional_then_were_not_counted() -> None:
    half = Manifest(7, 0, 1, [prepared(0), prepared(1)], ["out", "plain"], {"out": "id"})
    resume = outcome.resume_after([half], {prepared(0)}, 2, {"out": "id", "plain": "id"})
    assert resume.expected_count(TaskIdentity(7, 0), "plain") is None
    messages = [skipped(0, 10), prepared(1), prepared(0, sink="plain")]
    assert outcome.differences(resume, messages, {"out", "plain"}) == []

    done = outcome.resume_after([half], set(half.prepared), 2, {})
    messages = [skipped(0, 21), skipped(0, 5, sink="plain")]
    assert outcome.differences(done, messages, {"out", "plain"}) == []

"""What recovery makes of Kafka's markers and ids."""

from __future__ import annotations

import pytest

from headrace.connectors.kafka import errors, outcome
from headrace.connectors.kafka.markers import Marker, parse, value
from headrace.connectors.kafka.messages import PreparedTransaction


def prepared(partition: int, number: int = 0, sink: str = "out") -> PreparedTransaction:
    name = f"job-{sink}-1.0123abcd-{number}"
    return PreparedTransaction(sink, partition, name, 4000 + number, 3, count=10 + partition)


def marker_of(transaction: PreparedTransaction, batch_id: int = 7) -> Marker:
    return parse(value(batch_id, transaction))


def test_its_own_marker_proves_a_commit() -> None:
    assert outcome.settle(prepared(0), marker_of(prepared(0)), (), marker_topic_kept=True)
    # Even when the topic was made anew: the marker was written to the new one.
    assert outcome.settle(prepared(0), marker_of(prepared(0)), (), marker_topic_kept=False)


def test_no_marker_or_an_older_one_proves_that_there_was_none() -> None:
    older = marker_of(prepared(0, number=9), batch_id=6)
    assert not outcome.settle(prepared(0), None, (), marker_topic_kept=True)
    assert not outcome.settle(prepared(0), older, (), marker_topic_kept=True)


def test_another_attempt_at_the_same_batch_proves_nothing_about_this_one() -> None:
    again = marker_of(prepared(0, number=1))
    assert not outcome.settle(prepared(0), again, (), marker_topic_kept=True)


def test_a_later_life_of_the_job_hides_what_the_earlier_one_committed() -> None:
    """It was started without the checkpoint, which was then restored."""
    anew = PreparedTransaction("out", 0, "job-out-2.89abcdef-0", 4000, 3, 10)
    with pytest.raises(errors.OutcomeUnknown, match=r"replaced by job-out-2\.89abcdef-0 of a job"):
        outcome.settle(prepared(0), marker_of(anew), (), marker_topic_kept=True)
    # This batch's own next try at the partition is no stranger.
    own = (anew.transactional_id,)
    assert not outcome.settle(prepared(0), marker_of(anew), own, marker_topic_kept=True)


def test_without_the_marker_topic_nobody_knows() -> None:
    with pytest.raises(errors.OutcomeUnknown, match="partition 0, 10 records"):
        outcome.settle(prepared(0), None, (), marker_topic_kept=False)


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

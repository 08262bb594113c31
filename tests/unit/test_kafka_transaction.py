"""The states of a task's transaction, and what a broker's answer asks for."""

from __future__ import annotations

import itertools

import pytest

from headrace.connectors.kafka import answers, ids
from headrace.connectors.kafka.answers import Answer
from headrace.connectors.kafka.transaction import TRANSITIONS, InvalidStep, State, TransactionState


def test_the_way_of_a_transaction() -> None:
    state = TransactionState()
    for each in (State.OPEN, State.PREPARED, State.ABORTED, State.ABORTED):
        state.to(each)
    assert state.current is State.ABORTED


@pytest.mark.parametrize(("source", "target"), list(itertools.product(State, State)))
def test_every_other_step_is_refused(source: State, target: State) -> None:
    state = TransactionState()
    state.current = source
    if target in TRANSITIONS[source]:
        state.to(target)
        return
    with pytest.raises(InvalidStep, match=f"{source.value} cannot become {target.value}"):
        state.to(target)
    assert state.current is source


@pytest.mark.parametrize(
    ("code", "answer", "name"),
    [
        (0, Answer.DONE, "NONE"),
        (16, Answer.RETRY, "NOT_COORDINATOR"),
        (51, Answer.RETRY, "CONCURRENT_TRANSACTIONS"),
        (answers.UNANSWERED, Answer.RETRY, "NETWORK_EXCEPTION"),
        (47, Answer.GONE, "INVALID_PRODUCER_EPOCH"),
        (48, Answer.GONE, "INVALID_TXN_STATE"),
        (49, Answer.GONE, "INVALID_PRODUCER_ID_MAPPING"),
        (90, Answer.GONE, "PRODUCER_FENCED"),
        (53, Answer.REFUSED, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
        (-1, Answer.REFUSED, "error code -1"),
    ],
)
def test_error_codes(code: int, answer: Answer, name: str) -> None:
    assert answers.classify(code) is answer
    assert answers.name(code) == name


def test_ids_are_found_again_and_only_those_of_the_sink() -> None:
    mine = ids.TransactionalId("job-out", 7, "0123abcd", 12)
    assert str(mine) == "job-out-7.0123abcd-12"
    assert ids.parse("job-out", str(mine)) == mine
    for other in ("job-out-2-7.0123abcd-12", "job-outer-7.0123abcd-12", "xjob-out-7.0123abcd-1"):
        assert ids.parse("job-out", other) is None
    # A dot in a prefix is a dot.
    assert ids.parse("a.b-out", "axb-out-1.0123abcd-0") is None

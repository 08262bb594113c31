"""When the pool opens producers, and when it uses an id again."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import cast

import pytest

from headrace.connectors.kafka import errors
from headrace.connectors.kafka import pool as pools
from headrace.connectors.kafka.pool import ProducerPool
from headrace.connectors.kafka.producers import TransactionalProducer


class Idle:
    def poll(self, _timeout: float) -> int:
        return 0


class Producer:
    def __init__(self, transactional_id: str) -> None:
        self.transactional_id = transactional_id
        self.client = Idle()
        self.agrees = True
        self.prepared = True

    def ready_again(self) -> bool:
        return self.agrees


class Openings:
    """Opens producers like a broker would, counting; `fail` makes it refuse."""

    def __init__(self) -> None:
        self.names: Counter[str] = Counter()
        self.fail: Exception | None = None
        self.hold = threading.Event()
        self.hold.set()
        self._lock = threading.Lock()

    def __call__(self, name: str) -> TransactionalProducer:
        with self._lock:
            self.names[name] += 1
        self.hold.wait(240)
        if self.fail is not None:
            raise self.fail
        return cast(TransactionalProducer, Producer(name))

    def wait_for(self, name: str, times: int) -> None:
        deadline = time.monotonic() + 240
        while self.names[name] < times and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self.names[name] == times


@pytest.fixture
def openings() -> Openings:
    return Openings()


@pytest.fixture
def pool(openings: Openings) -> ProducerPool:
    return ProducerPool("job-out", 3, openings)


def test_tasks_of_a_batch_get_ids_of_their_own(pool: ProducerPool) -> None:
    names = [pool.take(1, {}).transactional_id for _ in range(6)]
    assert len(set(names)) == 6
    assert all(name.startswith("job-out-3.") for name in names)


def test_an_id_is_opened_again_only_after_its_batch(pool: ProducerPool, openings: Openings) -> None:
    first = {pool.take(1, {}).transactional_id for _ in range(3)}
    time.sleep(0.05)
    assert all(openings.names[name] == 1 for name in first)

    taken = {pool.take(batch, {}).transactional_id for batch in range(2, 12)}

    # Ids come round: the number of ids does not grow with the number of batches.
    assert first & taken
    assert len(openings.names) <= 8


def test_what_the_driver_has_ended_is_used_again_as_it_is(
    pool: ProducerPool, openings: Openings
) -> None:
    ended: dict[int, set[str]] = {}
    for batch in range(1, 12):
        ended = {batch: {pool.take(batch, ended).transactional_id for _ in range(3)}}
    assert len(openings.names) <= 8
    assert set(openings.names.values()) == {1}


@pytest.mark.parametrize("ended", [{}, {1: {"another"}}, {0: {"its own"}}])
def test_of_what_the_driver_says_nothing_the_id_is_opened_anew(
    pool: ProducerPool, openings: Openings, ended: dict[int, set[str]]
) -> None:
    """It may be open still: of a task whose message was dropped."""
    first = pool.take(1, {})
    ended = {b: {first.transactional_id} if n == {"its own"} else n for b, n in ended.items()}
    taken = [pool.take(2, ended) for _ in range(6)]
    assert first not in taken
    openings.wait_for(first.transactional_id, 2)


def test_a_producer_that_does_not_agree_is_not_used_again(
    pool: ProducerPool, openings: Openings
) -> None:
    first = pool.take(1, {})
    cast(Producer, first).agrees = False
    deadline = time.monotonic() + 240
    while openings.names[first.transactional_id] < 2 and time.monotonic() < deadline:
        assert pool.take(2, {1: {first.transactional_id}}) is not first
    openings.wait_for(first.transactional_id, 2)


def test_a_late_task_leaves_the_newer_batch_alone(pool: ProducerPool, openings: Openings) -> None:
    newer = pool.take(2, {})
    late = pool.take(1, {})
    assert pool.take(2, {}) not in (newer, late)
    assert openings.names[newer.transactional_id] == 1


def test_what_one_large_batch_needed_is_not_kept_busy(
    pool: ProducerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = {1: {pool.take(1, {}).transactional_id for _ in range(20)}}
    for batch in range(2, 10):
        used = {pool.take(batch, ended).transactional_id for _ in range(2)}
        ended = {batch: used}
    first = used
    for batch in range(10, 14):
        used = {pool.take(batch, ended).transactional_id for _ in range(2)}
        ended = {batch: used}
    assert len(first | used) <= 8  # the newest go round, the others get old


def test_an_aborted_one_is_opened_again_at_once(pool: ProducerPool, openings: Openings) -> None:
    producer = pool.take(1, {})
    pool.discard(producer)
    assert openings.names[producer.transactional_id] == 2
    for _ in range(5):
        pool.take(1, {})
    assert openings.names[producer.transactional_id] == 2


def test_producers_are_ready_before_they_are_asked_for(
    pool: ProducerPool, openings: Openings
) -> None:
    for _ in range(4):
        pool.take(1, {})
    deadline = time.monotonic() + 240
    while len(openings.names) < 4 + 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    # As many as the batch took, and one more.
    assert len(openings.names) == 4 + 5


def test_a_broker_that_refuses_fails_the_task_not_the_pool(openings: Openings) -> None:
    openings.fail = errors.ProducerUnavailable("no broker")
    pool = ProducerPool("job-out", 3, openings)
    with pytest.raises(errors.ProducerUnavailable, match="no broker"):
        pool.take(1, {}, timeout=240)
    openings.fail = None
    deadline = time.monotonic() + 240
    while True:
        try:
            pool.take(1, {}, timeout=240)
            break
        except errors.ProducerUnavailable:  # of the second one that was opened ahead
            assert time.monotonic() < deadline


def test_producers_that_nobody_takes_are_opened_anew(
    openings: Openings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "TEND_SECONDS", 0.01)
    monkeypatch.setattr(pools, "FRESH_SECONDS", 0.05)
    pool = ProducerPool("job-out", 3, openings)
    deadline = time.monotonic() + 240
    while min(openings.names.values(), default=0) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    # The same ids, so that the broker need not keep ever more of them.
    assert len(openings.names) == pools.FEWEST_AHEAD
    assert min(openings.names.values()) >= 3
    assert pool.take(1, {}, timeout=240)
    pool.close()


def test_brokers_that_are_away_do_not_hold_a_task_that_failed(
    monkeypatch: pytest.MonkeyPatch, pool: ProducerPool, openings: Openings
) -> None:
    monkeypatch.setattr(pools, "DISCARD_SECONDS", 0.1)
    producer = pool.take(0, {})
    openings.hold.clear()
    pool.discard(producer)
    openings.hold.set()
    openings.wait_for(producer.transactional_id, 2)
    # it is of use again, once the brokers are back
    while pool.take(0, {}).transactional_id != producer.transactional_id:
        pass

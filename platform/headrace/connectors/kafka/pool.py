"""Initialised transactional producers, opened ahead: one pool per sink and worker process.

`init_transactions` takes up to half a second, so a task must not wait for it: the pool keeps as
many producers ready as a batch needs, and opens them in the background.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from confluent_kafka import KafkaException

from headrace.connectors.kafka import errors
from headrace.connectors.kafka.ids import TransactionalId
from headrace.connectors.kafka.producers import (
    OPEN_TIMEOUT_SECONDS,
    TransactionalProducer,
    open_producer,
)
from headrace.connectors.kafka.settings import SinkSettings

log = logging.getLogger(__name__)

#: Idle producers' statistics pile up unless somebody takes them.
TEND_SECONDS = 1.0
#: What a task that failed waits at most for the end of its transaction.
DISCARD_SECONDS = 10.0
FEWEST_AHEAD = 2
MOST_AHEAD = 16
#: Producers that nobody took for longer are opened anew: brokers forget ids that are not used.
FRESH_SECONDS = 3600.0

#: Per batch, the ids of transactions that the driver has ended for certain.
Ended = Mapping[int, Collection[str]]
Opener = Callable[[str], TransactionalProducer]


@dataclass
class _Batch:
    """What the pool gave to the tasks of one batch."""

    batch_id: int
    used: list[TransactionalProducer] = field(default_factory=list)


class ProducerPool:
    """Producers of one sink in one worker process, for one epoch of the driver.

    `take` gives a producer to a task with its first record, so there are no empty transactions,
    which must not be ended. Its id stays out of use until a task of a later batch comes: only
    then the driver has ended the transaction. If the driver says so, the producer is used again
    as it is; what it says nothing about may be open still, or ended by somebody else, so its id
    is opened anew, which fences and aborts.
    """

    def __init__(self, root: str, epoch: int, opener: Opener) -> None:
        self._root = root
        self._epoch = epoch
        self._worker = secrets.token_hex(4)
        self._opener = opener
        self._changed = threading.Condition()
        self._ready: list[TransactionalProducer] = []
        #: When each id of a ready producer was opened, in seconds of the monotonic clock.
        self._opened_at: dict[str, float] = {}
        self._free: list[str] = []
        self._batch = _Batch(-1)
        self._opening = 0
        self._opened = 0
        self._ahead = FEWEST_AHEAD
        self._failure: Exception | None = None
        self._closed = False
        with self._changed:
            self._open_ahead(self._ahead)
        threading.Thread(target=self._tend, name=f"tend {root}", daemon=True).start()

    def take(
        self, batch_id: int, ended: Ended, timeout: float = OPEN_TIMEOUT_SECONDS
    ) -> TransactionalProducer:
        """A producer that has not begun. `ended` as in `Resume`. Raises `ProducerUnavailable`."""
        deadline = time.monotonic() + timeout
        with self._changed:
            self._enter(batch_id, ended)
            self._failure = None
            while not self._ready:
                self._open_ahead(1)
                if not self._changed.wait(deadline - time.monotonic()):
                    raise errors.ProducerUnavailable(f"{self._root}: none within {timeout:.0f} s")
                if self._failure is not None:
                    raise self._failure
            producer = self._ready.pop()  # the newest: what nobody needs gets old, and is renewed
            self._batch.used.append(producer)
            self._ahead = min(MOST_AHEAD, max(self._ahead, len(self._batch.used) + 1))
            self._open_ahead(self._ahead)
            return producer

    def discard(self, producer: TransactionalProducer) -> None:
        """Its task aborted its transaction. The id is initialised anew before this returns, if that
        takes no longer than `DISCARD_SECONDS`: librdkafka, asked to abort while its first
        AddPartitionsToTxn is under way, takes the transaction for empty and leaves it open in
        Kafka; the initialisation aborts it. Where the brokers are away, the driver's next sweep
        or recovery does."""
        with self._changed:
            if producer not in self._batch.used:
                return
            self._batch.used.remove(producer)
            opening = self._open(producer.transactional_id)
        opening.join(DISCARD_SECONDS)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._ready.clear()
            self._batch = _Batch(-1)

    def _enter(self, batch_id: int, ended: Ended) -> None:
        """A later batch: the transactions of the last one have ended. A task of an earlier batch
        comes too late, and must not take the ids of the newer one out of use."""
        if batch_id <= self._batch.batch_id:
            return
        last, self._batch = self._batch, _Batch(batch_id)
        names = ended.get(last.batch_id, frozenset())
        again = [each for each in last.used if each.transactional_id in names]
        done = [each for each in last.used if each.transactional_id not in names]
        last.used.clear()
        for producer in again:
            self._opening += 1
            threading.Thread(target=self._use_again, args=(producer,), daemon=True).start()
        for name in [each.transactional_id for each in done]:
            self._open(name)  # at once: what is open under it is aborted
        self._drop(done)

    def _give_up(self, producer: TransactionalProducer) -> None:
        self._free.append(producer.transactional_id)
        self._drop([producer])

    @staticmethod
    def _drop(producers: list[TransactionalProducer]) -> None:
        """Taking a producer down joins its threads; the task need not wait for that."""
        if producers:
            threading.Thread(target=producers.clear, daemon=True).start()

    def _use_again(self, producer: TransactionalProducer) -> None:
        try:
            ready = producer.ready_again()
        except Exception:
            log.warning("%s is opened anew", producer.transactional_id, exc_info=True)
            ready = False
        with self._changed:
            self._opening -= 1
            if not ready:
                self._give_up(producer)
            elif not self._closed:
                self._keep(producer)
            self._changed.notify_all()

    def _keep(self, producer: TransactionalProducer) -> None:
        self._ready.append(producer)
        self._opened_at[producer.transactional_id] = time.monotonic()

    def _open_ahead(self, wanted: int) -> None:
        while not self._closed and len(self._ready) + self._opening < wanted:
            self._open(self._free.pop(0) if self._free else self._new_id())

    def _open(self, name: str) -> threading.Thread:
        self._opening += 1
        opening = threading.Thread(target=self._open_one, args=(name,), daemon=True)
        opening.start()
        return opening

    def _new_id(self) -> str:
        self._opened += 1
        return str(TransactionalId(self._root, self._epoch, self._worker, self._opened - 1))

    def _open_one(self, name: str) -> None:
        producer, problem = None, None
        try:
            producer = self._opener(name)
        except Exception as error:
            problem = error
        with self._changed:
            self._opening -= 1
            if producer is None:
                self._free.append(name)
                self._failure = problem
            elif not self._closed:
                self._keep(producer)
            self._changed.notify_all()

    def _tend(self) -> None:
        while not self._closed:
            time.sleep(TEND_SECONDS)
            with self._changed:
                self._renew_old()
                waiting = self._ready + [each for each in self._batch.used if each.prepared]
            for producer in waiting:
                # One that was fenced says so to its task, if it ever gets one.
                with contextlib.suppress(KafkaException, SystemError):
                    producer.client.poll(0)
            del waiting

    def _renew_old(self) -> None:
        oldest = time.monotonic() - FRESH_SECONDS
        old = [each for each in self._ready if self._opened_at[each.transactional_id] < oldest]
        if old:
            self._ready = [each for each in self._ready if each not in old]
            self._free.extend(each.transactional_id for each in old)
            self._open_ahead(self._ahead)


_pools: dict[tuple[int, str, str], tuple[int, SinkSettings, ProducerPool]] = {}
_pools_lock = threading.Lock()


def pool_for(settings: SinkSettings, epoch: int) -> ProducerPool:
    """This process's pool of the sink; a pool of another epoch or other settings is closed."""
    place = (os.getpid(), settings.bootstrap_servers, settings.id_root)
    with _pools_lock:
        found = _pools.get(place)
        if found is not None and found[0] == epoch and found[1] == settings:
            return found[2]
        if found is not None:
            found[2].close()
        pool = ProducerPool(settings.id_root, epoch, lambda name: open_producer(settings, name))
        _pools[place] = (epoch, settings, pool)
        return pool


def close_all() -> None:
    """Give up this process's pools; transactions that are prepared stay so."""
    with _pools_lock:
        while _pools:
            _pools.popitem()[1][2].close()

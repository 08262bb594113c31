"""Initialised transactional producers, opened ahead: one pool per sink and worker process.

`init_transactions` takes up to half a second, so a task must not wait for it: the pool keeps as
many producers ready as a batch needs, and opens them in the background.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Callable
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

#: Idle producers' statistics pile up unless somebody takes them.
TEND_SECONDS = 1.0
FEWEST_AHEAD = 2
MOST_AHEAD = 16
#: Producers that nobody took for longer are opened anew: brokers forget ids that are not used.
FRESH_SECONDS = 3600.0

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
    then the driver has ended the transaction.
    """

    def __init__(self, root: str, epoch: int, opener: Opener) -> None:
        self._root = root
        self._epoch = epoch
        self._worker = secrets.token_hex(4)
        self._open = opener
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

    def take(self, batch_id: int, timeout: float = OPEN_TIMEOUT_SECONDS) -> TransactionalProducer:
        """A producer that has not begun. Raises `ProducerUnavailable`."""
        deadline = time.monotonic() + timeout
        with self._changed:
            self._enter(batch_id)
            self._failure = None
            while not self._ready:
                self._open_ahead(1)
                if not self._changed.wait(deadline - time.monotonic()):
                    raise errors.ProducerUnavailable(f"{self._root}: none within {timeout:.0f} s")
                if self._failure is not None:
                    raise self._failure
            producer = self._ready.pop(0)
            self._batch.used.append(producer)
            self._ahead = min(MOST_AHEAD, max(self._ahead, len(self._batch.used) + 1))
            self._open_ahead(self._ahead)
            return producer

    def discard(self, producer: TransactionalProducer) -> None:
        """Its task aborted its transaction: the id may be initialised again at once."""
        with self._changed:
            if producer in self._batch.used:
                self._batch.used.remove(producer)
                self._free.append(producer.transactional_id)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._ready.clear()
            self._batch = _Batch(-1)

    def _enter(self, batch_id: int) -> None:
        """A later batch: the transactions of the last one have ended."""
        if batch_id == self._batch.batch_id:
            return
        ended, self._batch = self._batch, _Batch(batch_id)
        self._free.extend(producer.transactional_id for producer in ended.used)
        if ended.used:
            # Taking a producer down joins its threads; the task need not wait for that.
            threading.Thread(target=ended.used.clear, daemon=True).start()

    def _open_ahead(self, wanted: int) -> None:
        while not self._closed and len(self._ready) + self._opening < wanted:
            self._opening += 1
            name = self._free.pop(0) if self._free else self._new_id()
            threading.Thread(target=self._open_one, args=(name,), daemon=True).start()

    def _new_id(self) -> str:
        self._opened += 1
        return str(TransactionalId(self._root, self._epoch, self._worker, self._opened - 1))

    def _open_one(self, name: str) -> None:
        producer, problem = None, None
        try:
            producer = self._open(name)
        except Exception as error:
            problem = error
        with self._changed:
            self._opening -= 1
            if producer is None:
                self._free.append(name)
                self._failure = problem
            elif not self._closed:
                self._ready.append(producer)
                self._opened_at[name] = time.monotonic()
            self._changed.notify_all()

    def _tend(self) -> None:
        while not self._closed:
            time.sleep(TEND_SECONDS)
            with self._changed:
                self._renew_old()
                waiting = [*self._ready, *self._batch.used[:-1]]
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

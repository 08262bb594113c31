"""Word through Redis that there is work. Lost word costs a tick and nothing else."""

from __future__ import annotations

import threading
import time
from typing import Any

import redis
import structlog
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

log = structlog.get_logger(__name__)

CHANNEL = "headrace.jobmanager"
#: A Redis that accepts and does not answer holds nobody up for longer: who waits may hold a lease.
TIMEOUT_SECONDS = 0.5
#: After a failure Redis is left alone for this long, so that nobody waits for it again and again.
PAUSE_SECONDS = 5.0


class Line:
    """A connection that fails fast and says nothing for a while after it failed."""

    def __init__(self, url: str) -> None:
        self._redis = _client(url)
        self._silent_until = 0.0
        self._lock = threading.Lock()

    def publish(self) -> bool:
        """Wake the JobManager; False when the word did not get out."""
        if not self.is_open():
            return False
        try:
            self._redis.publish(CHANNEL, b"")
        except redis.RedisError as error:
            self.failed(error)
            return False
        return True

    def is_open(self) -> bool:
        with self._lock:
            return time.monotonic() >= self._silent_until

    def failed(self, error: Exception) -> None:
        with self._lock:
            self._silent_until = time.monotonic() + PAUSE_SECONDS
        log.warning("no word through Redis; ticks do it", error=str(error))


class Ear:
    """Waits for word, at most for one tick; without Redis it only waits."""

    def __init__(self, line: Line, url: str) -> None:
        self._line = line
        self._redis = _client(url)
        self._subscription: Any = None

    def wait(self, seconds: float, stopped: threading.Event) -> None:
        """Return when word came, `stopped` is set, or after `seconds`."""
        if not self._line.is_open():
            stopped.wait(seconds)
            return
        try:
            self._listen(seconds)
        except (redis.RedisError, OSError) as error:
            self._subscription = None
            self._line.failed(error)
            stopped.wait(seconds)

    def _listen(self, seconds: float) -> None:
        if self._subscription is None:
            self._subscription = self._redis.pubsub(  # type: ignore[no-untyped-call]
                ignore_subscribe_messages=True
            )
            self._subscription.subscribe(CHANNEL)
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            # None also means that only the confirmation of the subscription came.
            if self._subscription.get_message(timeout=left) is not None:
                break
        while self._subscription.get_message() is not None:
            pass  # one look at the tables answers all word that came before it


def _client(url: str) -> redis.Redis:
    """One that fails after TIMEOUT_SECONDS. It tries again only where a connection was closed."""
    return redis.Redis.from_url(
        url,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )


_lines: dict[str, Line] = {}


def line() -> Line:
    """The line of this process."""
    return _lines.setdefault(settings.REDIS_URL, Line(settings.REDIS_URL))


def on_work_waiting(sender: object, **_: object) -> None:
    """Receiver of `jobs.signals.work_waiting`."""
    line().publish()

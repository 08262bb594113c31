"""Notices that another driver has taken the job over, whether there are batches or not."""

from __future__ import annotations

import time
from collections.abc import Callable

from headrace.connectors.twophase.ownership import OwnerStore

CHECK_SECONDS = 2.0


class Takeover:
    """Looks every few seconds. That makes a driver that was paused stop before it gets in the
    way of its successor; what keeps both from committing is `OwnerStore`'s other side."""

    def __init__(
        self, owners: OwnerStore, epoch: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`epoch` is this driver's; 0 before it has taken the job over."""
        self._owners = owners
        self._epoch = epoch
        self._clock = clock
        self._next = clock()

    def check(self) -> None:
        """Raises `SecondDriver`."""
        if self._epoch and self._clock() >= self._next:
            self._next = self._clock() + CHECK_SECONDS
            self._owners.check(self._epoch)

"""Word to TaskManagers that there is work for them."""

from __future__ import annotations

import time

from django.db import transaction

from jobs.models import Attempt
from workers import tasks

AGAIN_SECONDS = 5.0


class Word:
    def __init__(self) -> None:
        #: When it was sent last, by attempt.
        self._told: dict[int, float] = {}

    def send(self, attempt: Attempt, *, at_once: bool = False) -> None:
        """Word after the commit, and again now and then; its own tick finds the work anyway."""
        now = time.monotonic()
        if not at_once and now - self._told.get(attempt.pk, -1e9) < AGAIN_SECONDS:
            return
        self._told = {pk: at for pk, at in self._told.items() if now - at < AGAIN_SECONDS}
        self._told[attempt.pk] = now
        if attempt.taskmanager is not None:
            queue = attempt.taskmanager.queue
            transaction.on_commit(lambda: tasks.send_look(queue))

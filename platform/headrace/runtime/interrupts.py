"""Control-C while a job runs: the job ends in order before the program does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from headrace.runtime.context import StopRequest


@contextmanager
def obeyed(stop: StopRequest, reason: str) -> Iterator[None]:
    """The first interrupt asks the job to end between two micro-batches, and is raised behind the
    block; a second one is raised at once. Only the main thread is interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        if came.is_set():
            raise KeyboardInterrupt
        came.set()
        stop.ask(reason)

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came.is_set():
        raise KeyboardInterrupt

"""Control-C while a job runs: the job ends in order before the program does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
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


def kept_from_the_end(ask: Callable[[], None]) -> None:
    """From now on the first interrupt that comes while the interpreter ends calls `ask` instead of
    being raised: raised in `threading._shutdown` it would be printed and dropped, and threads cut
    off. Does nothing where interrupts are not Python's own, or outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    asked = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        if asked.is_set() or not _ends(frame):
            signal.default_int_handler(number, frame)
        asked.set()
        ask()

    signal.signal(signal.SIGINT, handle)


def _ends(frame: FrameType | None) -> bool:
    """Does the interpreter wait for its threads, or is about to? Its own flag comes too late."""
    if frame is None:
        return True
    while frame is not None:
        if frame.f_code is threading._shutdown.__code__:  # type: ignore[attr-defined]
            return True
        frame = frame.f_back
    return False

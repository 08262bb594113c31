"""Closes what a worker process has opened, when the process ends in order.

Spark's daemon sends its workers SIGHUP when the application ends; a worker that is killed closes
nothing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from types import FrameType

_closers: list[Callable[[], None]] = []


def at_end(close: Callable[[], None]) -> None:
    """Call `close` once, before this process ends."""
    if not _closers and threading.current_thread() is threading.main_thread():
        for number in (signal.SIGHUP, signal.SIGTERM):
            if signal.getsignal(number) is signal.SIG_DFL:  # a program's own handler stays
                signal.signal(number, _end)
    _closers.append(close)


def close_all() -> None:
    """Last opened, first closed. One that fails does not keep the others from it."""
    while _closers:
        try:
            _closers.pop()()
        except Exception:
            traceback.print_exc(file=sys.stderr)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    close_all()
    os.kill(os.getpid(), number)

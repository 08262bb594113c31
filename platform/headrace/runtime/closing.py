"""Closes what a worker process has opened, when the process ends in order.

A worker ends when Spark closes its connection: at the end of the application, after a failed task,
or when it had nothing to do for a minute. At the end of the application Spark's daemon sends it
SIGHUP at the same moment. A worker that is killed closes nothing.
"""

from __future__ import annotations

import atexit
import importlib
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

Worker = Callable[[socket.socket, bool], int]

SIGNALS = (signal.SIGHUP, signal.SIGTERM)
#: How long functions may take to close, all of a process together.
CLOSE_SECONDS = 30.0

_closers: list[Callable[[], None]] = []


def at_end(close: Callable[[], None]) -> None:
    """Call `close` once, before this process ends."""
    if not _closers:
        atexit.register(close_all)  # Spark's daemon leaves it out
        _obey_signals()
        main = sys.modules["__main__"]
        if getattr(main.__spec__, "name", "") == "pyspark.daemon":
            install(main)  # Spark's own, of a session that the program has made
    _closers.append(close)


def close_all() -> None:
    """Last opened, first closed. One that fails does not keep the others from it."""
    while _closers:
        try:
            _closers.pop()()
        except Exception:
            traceback.print_exc(file=sys.stderr)


def install(daemon: Any) -> None:
    """Have the workers that a daemon of Spark's forks, or the one that this process is, close what
    they opened."""
    worker = importlib.import_module("pyspark.worker")
    worker.main = obeying(worker.main)  # type: ignore[attr-defined]
    daemon.worker = closing_behind(daemon.worker)


def obeying(main: Callable[..., Any]) -> Callable[..., Any]:
    """Spark's loop over a worker's task, in which it waits for the task, too. In front of it the
    daemon has reset all signals."""

    def run(*streams: Any) -> Any:
        if _closers:
            _obey_signals()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return main(*streams)

    return run


def closing_behind(worker: Worker) -> Worker:
    """Spark's worker, that closes what it opened when it is not used again: any answer but 0.
    Signals wait for the next task, so that none cuts that short."""

    def run(sock: socket.socket, authenticated: bool) -> int:
        code = 1
        try:
            code = worker(sock, authenticated)
        finally:
            if _closers:
                signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
                if code:
                    _let_nothing_interrupt(code)
                    close_all()
        return code

    return run


def _obey_signals() -> None:
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:  # a program's own handler stays
                signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    """The function that runs may hold what closing it needs: it is left first."""
    _let_nothing_interrupt(128 + number)
    raise SystemExit(128 + number)


def _let_nothing_interrupt(code: int) -> None:
    """Further signals are ignored: a mask would hold for one thread only. So the process ends by
    itself when functions do not let go, or do not come to an end of closing."""
    if threading.current_thread() is not threading.main_thread():
        return
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)

    def give_up() -> None:
        time.sleep(CLOSE_SECONDS)
        os._exit(code & 0xFF)

    threading.Thread(target=give_up, name="give up", daemon=True).start()

"""Keeps hold of a job's sinks for as long as its driver lives, batches or not."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from headrace.connectors.twophase import errors
from headrace.connectors.twophase.committer import Committer

log = logging.getLogger(__name__)

KEEP_SECONDS = 5.0


@contextmanager
def kept(job: Committer) -> Iterator[None]:
    """Within it, what `job` holds is renewed every few seconds. When another job has taken it
    over, that is logged, and the next commit fails."""
    ended = threading.Event()
    thread = threading.Thread(target=_keep, args=(job, ended), name="keep sinks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(KEEP_SECONDS)


def _keep(job: Committer, ended: threading.Event) -> None:
    while not ended.wait(KEEP_SECONDS):
        try:
            job.hold()
        except errors.SinkError as error:
            log.error("%s", error)
        except Exception:
            log.exception("what the job holds was not renewed; trying again")

"""A running job's savepoints: taken between two batches, copied while the job runs on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from headrace.runtime import savepoints
from headrace.runtime.checkpoint_files import IncompleteCheckpoint
from headrace.runtime.context import RunContext
from headrace.runtime.savepoint_copy import SavepointCopy
from headrace.runtime.savepoint_requests import SavepointRequest
from headrace.runtime.savepoints import Held, Origin
from headrace.wire import events, savepoint

log = logging.getLogger(__name__)

#: How long the end of a job waits until the savepoint that it has claimed is removed: less than a
#: driver that is to end may take.
REMOVAL_SECONDS = 10.0


class Savepointing:
    """Of one run of a job. All but the copying happens in the thread that watches the query."""

    def __init__(self, context: RunContext, origin: Origin) -> None:
        self._context = context
        self._origin = origin
        self._copies: list[SavepointCopy] = []
        self._removal: threading.Thread | None = None
        self._owned = savepoints.claimed(origin.checkpoint_dir)
        savepoints.remove_links(origin.checkpoint_dir)

    def serve(self, settled: Callable[[], int | None]) -> None:
        """Begin the savepoints that are asked for. `settled`: the batch that the runtime's own
        files are of, if it is the newest completed."""
        requests = self._context.savepoints
        while requests.wanted and (batch := settled()) is not None:
            request = requests.take(ending=False)
            if request is None:
                return
            held = self._hold(request, batch)
            if held is not None:
                self._copies.append(SavepointCopy(held, request, self._context))

    def check(self) -> None:
        """Asked again and again while the job runs: none is copied for ever."""
        self._copies = [copy for copy in self._copies if not copy.check()]

    def ending(self) -> SavepointRequest | None:
        """The one that the job is to end with."""
        return self._context.savepoints.take(ending=True)

    def save_last(self, request: SavepointRequest, batch: int) -> bool:
        """No batch runs or is planned: save the newest, `batch`. Whether it was made."""
        held = self._hold(request, batch)
        return held is not None and SavepointCopy(held, request, self._context).wait()

    def batch_completed(self) -> None:
        """The job has a checkpoint of its own: a savepoint that it owns is of no more use. Its
        removal may take minutes, which the job does not wait for."""
        if self._owned is None:
            return
        owned, self._owned = self._owned, None
        self._removal = threading.Thread(
            target=self._remove, args=owned, name="claimed savepoint", daemon=True
        )
        self._removal.start()

    def fail(self, request: SavepointRequest, reason: str) -> None:
        log.warning("no savepoint: %s", reason)
        self._context.reporter.report(events.SavepointFailed(request.savepoint_id, reason))

    def give_up(self, reason: str) -> None:
        """What is being copied is not waited for, nor what is being removed: the job's next
        attempt goes on with that."""
        for copy in self._copies:
            copy.give_up(reason)
        self._removal = None

    def close(self) -> None:
        """Until what is being copied is there, and what is being removed is gone."""
        for copy in self._copies:
            copy.wait()
        if self._removal is not None:
            self._removal.join(REMOVAL_SECONDS)

    def _remove(self, path: Path, savepoint_id: str) -> None:
        try:
            savepoint.dispose(path, savepoint_id)
        except (savepoint.BadSavepoint, OSError) as error:
            log.warning("the claimed savepoint at %s is left there: %s", path, error)
        else:
            if left := savepoint.left_beside(path):
                log.warning("%s", left)
            self._context.reporter.report(events.SavepointDisposed(savepoint_id, str(path)))
        savepoints.unclaim(self._context.checkpoint_dir)

    def _hold(self, request: SavepointRequest, batch: int) -> Held | None:
        try:
            held = Held.hold(self._origin, batch)
        except (IncompleteCheckpoint, OSError, ValueError) as error:
            self.fail(request, f"the checkpoint is not complete: {error}")
            return None
        if held is None:  # a batch ended meanwhile
            self._context.savepoints.put_back(request)
        return held

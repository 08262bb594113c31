"""The driver's side of a `TwoPhaseCommitSink`: its hooks, tried again until a deadline."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from headrace.connectors.twophase import claims, errors, names
from headrace.connectors.twophase.deadline import Deadline
from headrace.connectors.twophase.messages import Prepared
from headrace.connectors.twophase.ownership import Identity
from headrace.connectors.twophase.participant import Outcome
from headrace.connectors.twophase.sink import ClaimPlace, TwoPhaseCommitSink

log = logging.getLogger(__name__)

#: While the system is away, hooks are called again this often at first, and at most.
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 2.0
#: Systems and drivers often start together.
CHECK_SECONDS = 30.0

T = TypeVar("T")


class HookParticipant:
    """Contract: `twophase.participant.Participant`. `root` begins its transactions' names."""

    def __init__(self, sink: TwoPhaseCommitSink[Any, Any], name: str, root: str) -> None:
        self._sink = sink
        self._name = name
        self._root = root

    @property
    def name(self) -> str:
        return self._name

    @property
    def root(self) -> str:
        return self._root

    def under(self, root: str) -> HookParticipant:
        return HookParticipant(self._sink, self._name, root)

    @property
    def transactional(self) -> bool:
        return self._sink.transactional

    @property
    def patience(self) -> float:
        return self._sink.commit_timeout_seconds

    def check(self) -> str:
        check = partial(self._sink.check, self._root)
        self._until(Deadline.after(CHECK_SECONDS), check, errors.Unreachable)
        return ""

    def hold(self, job: Identity, *, starting: bool) -> None:
        """Contract: `claims`, in the place that the sink names. When the system does not answer a
        running job, or lets nobody claim, nothing is held."""
        claimed = self._claims()
        if claimed is None:
            return
        try:
            if starting:
                take = partial(claimed.take, job)
                self._until(Deadline.after(CHECK_SECONDS), take, errors.Unreachable)
            else:
                claimed.renew(job)
        except errors.CommitRefused as error:
            if starting:
                log.warning("not checked whether another job uses the sink: %s", error.detail)
        except errors.SinkError:
            raise
        except Exception as error:
            log.warning("sink %s: its claim was not renewed: %s", self._name, error)

    def release(self, job: Identity) -> None:
        claimed = self._claims()
        try:
            if claimed is not None:
                claimed.release(job)
        except Exception as error:
            log.warning("sink %s is free for other jobs only later: %s", self._name, error)

    def _claims(self) -> claims.Claims | None:
        place = self._sink.claim_place(self._root)
        if place is None:
            return None
        words = f"sink {self._name}: what begins with {self._root} in {self._sink.described}"
        return claims.Claims(_Single(place), {place.described: words})

    def newest_epoch(self, deadline: Deadline) -> int:
        return max((epoch for epoch, _ in self._listed(deadline)), default=0)

    def commit(
        self, prepared: Sequence[Prepared], deadline: Deadline, *, recovering: bool
    ) -> dict[Prepared, Outcome]:
        hook = self._sink.recover_and_commit if recovering else self._sink.commit
        return {each: self._commit_one(hook, each, deadline) for each in prepared}

    def abort(self, prepared: Sequence[Prepared], deadline: Deadline) -> None:
        for each in prepared:
            self._until(deadline, partial(self._sink.abort, each.handle))

    def fence(self, epoch: int, fenced_before: int, deadline: Deadline) -> int:
        return self._abort_listed(epoch - 1, deadline)

    def sweep(self, epoch: int, deadline: Deadline) -> int:
        return self._abort_listed(epoch, deadline)

    def settle(
        self, gone: Sequence[Prepared], batch: Sequence[Prepared], *, ledger_kept: bool
    ) -> set[Prepared]:
        raise AssertionError("the hooks' answers are final")

    def _commit_one(
        self, hook: Callable[[Any], None], prepared: Prepared, deadline: Deadline
    ) -> Outcome:
        try:
            self._until(deadline, partial(hook, prepared.handle))
        except errors.TransactionLost as lost:
            log.warning("sink %s, partition %d: %s", self._name, prepared.partition, lost)
            return Outcome.LOST
        return Outcome.COMMITTED

    def _listed(self, deadline: Deadline) -> list[tuple[int, Any]]:
        """Epoch and transaction of what is open under the root."""
        listed = self._until(deadline, lambda: list(self._sink.list_transactions(self._root)))
        return [
            (parsed.epoch, transaction)
            for name, transaction in listed
            if (parsed := names.parse(self._root, name))
        ]

    def _abort_listed(self, newest: int, deadline: Deadline) -> int:
        found = [each for epoch, each in self._listed(deadline) if epoch <= newest]
        for each in found:
            self._until(deadline, partial(self._sink.recover_and_abort, each))
        return len(found)

    def _until(
        self,
        deadline: Deadline,
        do: Callable[[], T],
        failure: type[errors.SinkError] = errors.CommitIncomplete,
    ) -> T:
        """What `do` answers, called again while it fails. Raises `SinkError`s as they are, and
        `failure` at the deadline."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return do()
            except errors.SinkError:
                raise
            except Exception as error:
                if deadline.passed():
                    detail = f"sink {self._name}: {type(error).__name__}: {error}"
                    raise failure(detail) from error
                log.warning("sink %s, trying again: %s", self._name, error)
            time.sleep(pause)
            pause = min(LONGEST_PAUSE_SECONDS, pause * 2)


class _Single:
    """The `claims.Register` that is one place."""

    def __init__(self, place: ClaimPlace) -> None:
        self._place = place

    def read(self) -> Mapping[str, str]:
        found = self._place.read()
        return {} if found is None else {self._place.described: found}

    def write(self, notes: Mapping[str, str]) -> None:
        for claim in notes.values():
            self._place.write(claim)

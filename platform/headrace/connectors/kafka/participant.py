"""Kafka as a participant of the commit: EndTxn, fencing by id, batch markers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from headrace.connectors.kafka import (
    claims,
    ending,
    errors,
    ids,
    markers,
    outcome,
    producers,
    sign_in,
)
from headrace.connectors.kafka.answers import Answer
from headrace.connectors.kafka.coordinator import coordinator_for
from headrace.connectors.kafka.messages import PreparedTransaction
from headrace.connectors.kafka.settings import SinkSettings
from headrace.connectors.twophase.deadline import Deadline
from headrace.connectors.twophase.messages import Prepared
from headrace.connectors.twophase.ownership import Identity
from headrace.connectors.twophase.participant import Outcome

log = logging.getLogger(__name__)

#: Beyond the transaction timeout nothing is left to commit, but the answer still matters.
SPARE_SECONDS = 60.0
#: Brokers and drivers often start together.
PATIENCE_SECONDS = 30.0
PAUSE_SECONDS = 0.5

#: Roots of ids whose claims nobody may keep, of which this process has said so.
_unchecked: set[str] = set()

T = TypeVar("T")


class KafkaParticipant:
    """The driver's side of one Kafka sink; contract: `twophase.participant.Participant`."""

    def __init__(self, settings: SinkSettings) -> None:
        self._settings = settings

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def root(self) -> str:
        return self._settings.id_root

    def under(self, root: str) -> KafkaParticipant:
        prefix = root.removesuffix(f"-{self.name}")
        return KafkaParticipant(replace(self._settings, transactional_id_prefix=prefix))

    @property
    def transactional(self) -> bool:
        return self._settings.exactly_once

    @property
    def patience(self) -> float:
        return self._settings.transaction_timeout_ms / 1000 + SPARE_SECONDS

    def check(self) -> str:
        """The answer is the id of the marker topic."""
        producers.check_options(self._settings)
        sign_in.check(self._settings)
        return _check_cluster(self._settings) if self.transactional else ""

    def hold(self, job: Identity, *, starting: bool) -> None:
        """Contract: `claims`. When the cluster does not answer a running job, or allows nobody to
        commit offsets, nothing is held."""
        claimed = self._claims()
        try:
            if starting:
                _patiently(lambda: claimed.take(job))
            else:
                claimed.renew(job)
        except errors.CommitRefused as error:
            if self._settings.id_root not in _unchecked:
                _unchecked.add(self._settings.id_root)
                log.warning("not checked whether another job uses the prefix: %s", error.detail)
        except errors.ClusterUnreachable as error:
            if starting:
                raise
            log.warning("the claim on the prefix was not renewed: %s", error.detail)

    def release(self, job: Identity) -> None:
        self._claims().release(job)

    def _claims(self) -> claims.Claims:
        mine = self._settings
        return claims.Claims(
            coordinator_for(mine), mine.marker_topic, mine.transactional_id_prefix, mine.id_root
        )

    def newest_epoch(self, deadline: Deadline) -> int:
        """Newest epoch of any transactional id: a job that starts anew, without its old
        checkpoint, must still be newer than the producers it left."""
        root = self._settings.id_root
        listed = ending.list_all(coordinator_for(self._settings), root, deadline)
        epochs = [parsed.epoch for each, _ in listed if (parsed := ids.parse(root, each))]
        return max(epochs, default=0)

    def commit(
        self, prepared: Sequence[Prepared], deadline: Deadline, *, recovering: bool
    ) -> dict[Prepared, Outcome]:
        answered = self._end(prepared, deadline, commit=True)
        return {
            each: Outcome.COMMITTED if answer is Answer.DONE else Outcome.GONE
            for each, answer in answered.items()
        }

    def abort(self, prepared: Sequence[Prepared], deadline: Deadline) -> None:
        self._end(prepared, deadline, commit=False)

    def fence(self, epoch: int, fenced_before: int, deadline: Deadline) -> int:
        coordinator = coordinator_for(self._settings)
        root = self._settings.id_root
        listed = ending.list_all(coordinator, root, deadline)
        found = set(outcome.leftovers(listed, root, fenced_before=fenced_before, below=epoch))
        ending.fence_all(coordinator, found, self._settings.transaction_timeout_ms, deadline)
        return sum(is_open for each, is_open in listed if each in found)

    def sweep(self, epoch: int, deadline: Deadline) -> int:
        coordinator = coordinator_for(self._settings)
        root = self._settings.id_root
        opened = [each for each in ending.list_all(coordinator, root, deadline) if each[1]]
        found = outcome.leftovers(opened, root, fenced_before=epoch + 1, below=epoch + 1)
        ending.fence_all(coordinator, found, self._settings.transaction_timeout_ms, deadline)
        return len(found)

    def settle(
        self, gone: Sequence[Prepared], batch: Sequence[Prepared], *, ledger_kept: bool
    ) -> set[Prepared]:
        opened = {each: PreparedTransaction.opened(each) for each in gone}
        own = {each.handle["transactional_id"] for each in batch}
        found = markers.read(self._settings, list(opened.values()))
        return {
            each
            for each, mine in opened.items()
            if outcome.settle(mine, found.get(mine), own, marker_topic_kept=ledger_kept)
        }

    def _end(
        self, prepared: Sequence[Prepared], deadline: Deadline, *, commit: bool
    ) -> dict[Prepared, Answer]:
        opened = {each: PreparedTransaction.opened(each) for each in prepared}
        coordinator = coordinator_for(self._settings)
        answered = ending.end_all(coordinator, opened.values(), deadline, commit=commit)
        return {each: answered[mine.transactional_id] for each, mine in opened.items()}


def _check_cluster(sink: SinkSettings) -> str:
    """Refuse now what the brokers would refuse later; the id of the marker topic."""
    coordinator = coordinator_for(sink)
    longest = _patiently(coordinator.longest_timeout_ms)
    if longest is not None and sink.transaction_timeout_ms > longest:
        raise errors.InvalidSettings(
            f"sink {sink.name}: transaction timeout {sink.transaction_timeout_ms} ms is above the "
            f"brokers' transaction.max.timeout.ms, {longest} ms; lower it or raise theirs"
        )
    return coordinator.ensure_marker_topic(sink.marker_topic)


def _patiently(ask: Callable[[], T]) -> T:
    deadline = Deadline.after(PATIENCE_SECONDS)
    while True:
        try:
            return ask()
        except errors.ClusterUnreachable:
            if deadline.passed():
                raise
            time.sleep(PAUSE_SECONDS)

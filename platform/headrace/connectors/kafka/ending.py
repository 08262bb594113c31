"""Ends transactions and waits until Kafka has answered about each of them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable

from headrace.connectors.kafka import answers, errors, ids
from headrace.connectors.kafka.answers import Answer
from headrace.connectors.kafka.coordinator import Coordinator
from headrace.connectors.kafka.messages import PreparedTransaction
from headrace.connectors.twophase.deadline import Deadline

log = logging.getLogger(__name__)

#: While a broker is away, questions are repeated this often at first, and at most.
FIRST_PAUSE_SECONDS = 0.02
LONGEST_PAUSE_SECONDS = 1.0
#: INVALID_TXN_STATE
_GONE = 48


def end_all(
    coordinator: Coordinator,
    prepared: Iterable[PreparedTransaction],
    deadline: Deadline,
    *,
    commit: bool,
) -> dict[str, Answer]:
    """DONE_ONCE, DONE or GONE per transactional id. Raises `CommitRefused`, or `CommitIncomplete`
    at the deadline. What was not open is asked for again, of the coordinator that there is then."""
    waiting = {each.transactional_id: each for each in prepared}
    asked: set[str] = set()

    def end(ids: list[str]) -> dict[str, int]:
        first = not asked
        asked.update(ids)
        mine = [waiting[each] for each in ids]
        return coordinator.end(mine, commit=commit, only_open=commit and first)

    return _ask_until_answered(end, list(waiting), deadline)


def end_open(
    coordinator: Coordinator, prepared: Iterable[PreparedTransaction], deadline: Deadline
) -> dict[str, Answer]:
    """As `end_all` to commit, for a recovery: GONE also for what was not open, because only its
    marker tells whether it, or one of the same producer before it, was committed."""
    waiting = {each.transactional_id: each for each in prepared}

    def end(ids: list[str]) -> dict[str, int]:
        codes = coordinator.end([waiting[each] for each in ids], commit=True, only_open=True)
        return {each: _GONE if c == answers.NOT_OPEN else c for each, c in codes.items()}

    return _ask_until_answered(end, list(waiting), deadline)


def fence_all(
    coordinator: Coordinator, ids: Iterable[str], timeout_ms: int, deadline: Deadline
) -> None:
    """Shut out whoever holds `ids`; their open transactions are aborted when it returns."""
    _ask_until_answered(lambda each: coordinator.fence(each, timeout_ms), list(ids), deadline)


def list_all(coordinator: Coordinator, root: str, deadline: Deadline) -> list[tuple[str, bool]]:
    """Every transactional id of the sink with this root, and whether it is open. Raises
    `ClusterUnreachable` at the deadline."""
    while True:
        try:
            return coordinator.list_ids(ids.pattern(root))
        except errors.ClusterUnreachable:
            if deadline.passed():
                raise
            time.sleep(LONGEST_PAUSE_SECONDS)


def _ask_until_answered(
    ask: Callable[[list[str]], dict[str, int]], ids: list[str], deadline: Deadline
) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    pause = FIRST_PAUSE_SECONDS
    while True:
        codes = ask(ids)
        found.update(
            {each: answers.classify(code, again=each in found) for each, code in codes.items()}
        )
        _refuse(codes)
        ids = [each for each in ids if found[each] is Answer.RETRY]
        if not ids:
            return found
        if deadline.passed():
            last = ", ".join(f"{each}: {answers.name(codes[each])}" for each in ids[:3])
            raise errors.CommitIncomplete(f"{len(ids)} transactions unanswered, {last}")
        time.sleep(pause)
        pause = min(LONGEST_PAUSE_SECONDS, pause * 2)


def _refuse(codes: dict[str, int]) -> None:
    for each, code in codes.items():
        if answers.classify(code) is Answer.REFUSED:
            raise errors.CommitRefused(f"{each}: {answers.name(code)}")

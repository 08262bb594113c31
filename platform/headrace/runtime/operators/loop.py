"""The head of an iteration: what comes in, and what the loop's body sends back."""

from __future__ import annotations

from typing import Any

from headrace.runtime.frames import detached
from headrace.runtime.operators.operator import Element, KeyedContext, KeyedOperator

#: How often a loop goes round in one micro-batch; what is left then waits for the next one.
ROUNDS = 1_000
#: How often it may when all input has ended, and there is no next one.
LAST_ROUNDS = 1_000_000
_REST = "rest"


class Loop(KeyedOperator):
    """Runs within a key group. What waits for the next batch is state."""

    def __init__(self, rounds: int = ROUNDS, last_rounds: int = LAST_ROUNDS) -> None:
        self.rounds = rounds
        self.last_rounds = last_rounds
        self._batch: tuple[Any, int] = (None, 0)

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        context.emit(value, context.timestamp)

    def go_round(self, context: KeyedContext, came_back: list[Element], ended: bool) -> bool:
        """One round; False when there was nothing to send round, or too much for one batch."""
        kept = context.group_state(_REST)
        waiting = [*(kept or ()), *came_back]
        if not waiting:
            return False
        allowed = self._may_go_round(context, ended)
        rest = None if allowed else [(timestamp, detached(value)) for timestamp, value in waiting]
        if kept or rest:
            context.set_group_state(_REST, rest)
        if not allowed:
            return False
        for context.timestamp, value in waiting:
            context.emit(value, context.timestamp)
        return True

    def waits(self, context: KeyedContext) -> bool:
        """Whether something is left for the next batch."""
        return context.group_state(_REST) is not None

    def _may_go_round(self, context: KeyedContext, ended: bool) -> bool:
        batch, done = self._batch
        done = done + 1 if batch is context.batch else 1
        self._batch = context.batch, done
        if ended and done > self.last_rounds:
            raise RuntimeError(
                f"an iteration still goes round after {self.last_rounds} times at the end of "
                "input: nothing of what comes back ever leaves the loop"
            )
        return ended or done <= self.rounds

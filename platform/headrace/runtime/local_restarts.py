"""Whether a job in one process goes on after a failure, and when."""

from __future__ import annotations

from collections import deque

from headrace.common.restart_strategy import RestartRule


class LocalRestarts:
    """Counts failures against a rule: `attempts` in all, or so many within an interval."""

    def __init__(self, rule: RestartRule) -> None:
        self._rule = rule
        self._failures: deque[float] = deque()

    @property
    def may_follow(self) -> bool:
        """Whether a failure now would be followed by a restart."""
        return len(self._failures) < self._rule.most or self._rule.within is not None

    def delay_after_failure(self, now: float) -> float | None:
        """Seconds to wait before the restart; None when the job has failed."""
        within = self._rule.within
        while within is not None and self._failures and self._failures[0] <= now - within:
            self._failures.popleft()
        self._failures.append(now)
        if len(self._failures) > self._rule.most:
            return None
        delay = self._rule.delay * self._rule.multiplier ** (len(self._failures) - 1)
        return min(delay, self._rule.most_delay)

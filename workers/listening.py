"""Which TaskManagers are silent. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Hashable, Mapping


class Listening:
    """Silence is measured by the listener: for how long a heartbeat was followed by no other, by
    its own clock, which none can set and which stands still while the machine sleeps. So neither
    matters what the clocks of other machines say. It counts only while it could have been broken:
    not before this process led, nor while it was paused or the database was away."""

    def __init__(self) -> None:
        self._last = float("-inf")
        #: {TaskManager: its last heartbeat, and when that was seen first}
        self._heard: dict[int, tuple[Hashable, float]] = {}

    def silent(self, now: float, heartbeats: Mapping[int, Hashable], timeout: float) -> set[int]:
        """Called with each look at the heartbeats: those of whom there was no other one for
        `timeout`, in which there was no gap between looks so long that one was missed."""
        before = self._heard if now - self._last <= timeout / 2 else {}
        self._last = now
        self._heard = {
            taskmanager: (beat, before[taskmanager][1] if _same(before, taskmanager, beat) else now)
            for taskmanager, beat in heartbeats.items()
        }
        return {who for who, (_, since) in self._heard.items() if now - since >= timeout}


def _same(before: Mapping[int, tuple[Hashable, float]], taskmanager: int, beat: Hashable) -> bool:
    return taskmanager in before and before[taskmanager][0] == beat

"""The windows of one key whose assigner merges them, and where each keeps its content.

When windows merge, the content of one of them becomes that of the result: under the namespace of
the window it was first written for, the result's *state window*. So a session that grows with
every record does not move its content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headrace.datastream.window import MergingWindowAssigner

#: (result, windows merged into it, its state window, state windows whose content goes into that)
Merged = Callable[[Any, list[Any], Any, list[Any]], None]


class MergingWindows:
    """`mapping`: window -> its state window; changed in place."""

    def __init__(self, assigner: MergingWindowAssigner[Any, Any], mapping: dict[Any, Any]) -> None:
        self._assigner = assigner
        self.mapping = mapping

    def add(self, new: Any, merged: Merged) -> Any:
        """The window that `new` became: itself, or what it merged into."""
        found = _Found()
        self._assigner.merge_windows([*self.mapping, new], found)
        result = new
        for merge_result, together in found.groups:
            if new in together:
                result = merge_result
            self._merge(merge_result, together, merged)
        if result == new:
            self.mapping.setdefault(new, new)
        return result

    def _merge(self, result: Any, together: set[Any], merged: Merged) -> None:
        before = [window for window in self.mapping if window in together]
        if not before:
            return
        target, *others = [self.mapping.pop(window) for window in before]
        self.mapping[result] = target
        if before != [result]:  # a window that merely takes in the new one stays as it is
            merged(result, before, target, others)

    def retire(self, window: Any) -> None:
        self.mapping.pop(window, None)


class _Found(MergingWindowAssigner.MergeCallback[Any]):
    def __init__(self) -> None:
        self.groups: list[tuple[Any, set[Any]]] = []

    def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
        self.groups.append((merge_result, set(to_be_merged)))


def check_not_past(result: Any, cleanup: int, now: int) -> None:
    """ValueError for a window that would be over as soon as it is there."""
    if cleanup <= now:
        raise ValueError(
            f"windows were merged into {result}, which is over: its end must not become "
            "earlier than the current time by merging"
        )

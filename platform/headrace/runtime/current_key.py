"""The key that the operators of a level are at, with its state and timers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from headrace.runtime import frames, keys
from headrace.runtime.frames import MIN_WATERMARK
from headrace.runtime.operators.operator import Element
from headrace.runtime.pipeline import Pipeline
from headrace.runtime.program import Node
from headrace.runtime.state import Entries, Entry, Store, group_bytes, owner_bytes
from headrace.runtime.timers import EXPIRY, PROCESSING_TIME, Timers

if TYPE_CHECKING:
    from headrace.runtime.host import Head


#: In place of a namespace that is none.
_UNKNOWN = object()


class CurrentKey:
    """The KeyedContext of all operators of a level: one object, moved from key to key."""

    key: Any = None
    value: Any = None
    timestamp: int | None = None
    watermark = MIN_WATERMARK
    processing_time = 0
    batch: object = None
    leads = True

    def begin(self, head: Head, store: Store, pipeline: Pipeline) -> None:
        """Turn to another key group."""
        self.batch = object()
        self._head = head
        self._entries = Entries(store)
        self.timers = Timers(store, head.timer_pages)
        self.processing_timers = Timers(store, head.processing_timer_pages, PROCESSING_TIME)
        self._expiries = Timers(store, head.expiry_pages, EXPIRY)
        self._pipeline = pipeline
        self.processing_time = head.time
        #: Operator's uid -> key -> its entry without a namespace.
        self._plain: defaultdict[str, dict[Any, Entry]] = defaultdict(dict)
        self._sent: list[Element] = []
        self._sent_aside: dict[str, list[Element]] = {}

    def enter(self, node: Node) -> None:
        """Turn to another operator."""
        self.deliver()
        self._node = node
        self._uid = node.uid
        self._entry_of_key = self._plain[node.uid]
        self._namespace: Any = _UNKNOWN
        self.watermark = self._head.watermarks.get(node.uid, MIN_WATERMARK)

    def turn_to(self, key: Any) -> None:
        """Turn to another key."""
        self.key = key
        self._key_bytes: bytes | None = None
        self._namespace = _UNKNOWN

    def turn_to_owner(self, key: Any, namespace: Any, owner: bytes) -> None:
        """As `turn_to`, where what identifies key and namespace is known already."""
        self.key = key
        self._key_bytes = None
        self._namespace, self._entry = namespace, self._entries.entry(owner)

    def flush(self) -> None:
        self._entries.flush()
        self.timers.flush()
        self.processing_timers.flush()
        self._expiries.flush()

    def emit(self, value: Any, timestamp: int | None) -> None:
        self._sent.append((timestamp, frames.detached(value)))

    def emit_to(self, tag: str, value: Any, timestamp: int | None) -> None:
        self._sent_aside.setdefault(tag, []).append((timestamp, frames.detached(value)))

    def deliver(self) -> None:
        """Hand over what the operator has emitted, many at a time."""
        if self._sent:
            sent, self._sent = self._sent, []
            self._pipeline.send(self._node, None, sent)
        if self._sent_aside:
            aside, self._sent_aside = self._sent_aside, {}
            for tag, elements in aside.items():
                self._pipeline.send(self._node, tag, elements)

    def count(self, counter: str, n: int = 1) -> None:
        self._pipeline.count(self._node.id, counter, n)

    def entry(self, namespace: Any = None) -> Entry:
        # a record touches the same window several times
        if namespace is not self._namespace:
            self._entry = self._found(namespace)
            self._namespace = namespace
        return self._entry

    def state(self, name: str, namespace: Any = None) -> Any:
        return self.entry(namespace).values.get(name)

    def states(self, namespace: Any = None) -> dict[str, Any]:
        return self.entry(namespace).values

    def set_state(self, name: str, value: Any, namespace: Any = None) -> None:
        self._entries.set(self.entry(namespace), name, value)

    def expire_later(self, name: str, namespace: Any, ttl: int) -> None:
        # rounded up, so that a state that is used all the time is not noted each time
        step = max(1, ttl // 8)
        at = (self.processing_time + ttl) // step * step + step
        identity = self._owner(namespace) + name.encode()
        self._expiries.register(at, identity, (self._uid, self.key, (namespace, name, ttl)))

    def drop_expired(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self.enter(node)
            while (due := self._expiries.pop_due(node.uid, self.processing_time)) is not None:
                _, _, (_, key, (namespace, name, ttl)) = due
                self.turn_to(key)
                used_before = self.processing_time - ttl
                self._entries.drop_expired(self.entry(namespace), name, used_before)

    def clear_state(self, namespace: Any) -> None:
        self._entries.clear(self.entry(namespace))

    def group_state(self, name: str) -> Any:
        return self._group_entry().values.get(name)

    def set_group_state(self, name: str, value: Any) -> None:
        self._entries.set(self._group_entry(), name, value)

    def register_timer(self, timestamp: int, namespace: Any = None) -> None:
        owner = self._uid, self.key, namespace
        self.timers.register(timestamp, self._owner(namespace), owner)

    def delete_timer(self, timestamp: int, namespace: Any = None) -> None:
        self.timers.delete(timestamp, self._owner(namespace))

    def register_processing_timer(self, timestamp: int, namespace: Any = None) -> None:
        owner = self._uid, self.key, namespace
        self.processing_timers.register(timestamp, self._owner(namespace), owner)

    def delete_processing_timer(self, timestamp: int, namespace: Any = None) -> None:
        self.processing_timers.delete(timestamp, self._owner(namespace))

    def _group_entry(self) -> Entry:
        return self._entries.entry(group_bytes(self._uid))

    def _found(self, namespace: Any) -> Entry:
        key = self.key
        kind = type(key)
        if namespace is not None or (kind is not str and kind is not int):
            return self._entries.entry(self._owner(namespace))
        entry = self._entry_of_key.get(key)
        if entry is None:
            entry = self._entry_of_key[key] = self._entries.entry(self._owner(None))
        return entry

    def _owner(self, namespace: Any) -> bytes:
        if namespace is self._namespace:
            return self._entry.owner
        if self._key_bytes is None:
            self._key_bytes = keys.encode(self.key)
        return owner_bytes(self._uid, self._key_bytes, namespace)

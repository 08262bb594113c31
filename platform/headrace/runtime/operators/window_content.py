"""What a window keeps of its records, as plain values that go into state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from headrace.datastream.functions import AggregateFunction
from headrace.datastream.window import Evictor, TimestampedValue
from headrace.runtime.operators.operator import method
from headrace.runtime.paged import grown


class Content(Protocol):
    """`content` is None for an empty window; every method but `results` may change and return
    what it was given."""

    def add(self, content: Any, value: Any, timestamp: int | None) -> Any: ...

    def fold(self, content: Any, value: Any) -> Any:
        """As `add`, to a window that has something."""

    def merge(self, content: Any, other: Any) -> Any: ...

    def results(self, content: Any) -> Iterable[Any]:
        """What the window's function gets when the window fires."""


class Aggregated:
    """An accumulator."""

    def __init__(self, function: AggregateFunction) -> None:
        self._function = function
        self._add = function.add
        self._get_result = function.get_result

    def add(self, content: Any, value: Any, timestamp: int | None) -> Any:
        if content is None:
            content = self._function.create_accumulator()
        return self._add(value, content)

    def fold(self, content: Any, value: Any) -> Any:
        return self._add(value, content)

    def merge(self, content: Any, other: Any) -> Any:
        return self._function.merge(content, other)

    def results(self, content: Any) -> Iterable[Any]:
        return (self._get_result(content),)


class Reduced:
    """One value."""

    def __init__(self, reduce: Callable[[Any, Any], Any]) -> None:
        self._reduce = self.fold = reduce

    def add(self, content: Any, value: Any, timestamp: int | None) -> Any:
        return value if content is None else self._reduce(content, value)

    def merge(self, content: Any, other: Any) -> Any:
        return self._reduce(content, other)

    def results(self, content: Any) -> Iterable[Any]:
        return (content,)


class Listed:
    """All values, in the order in which they came."""

    def add(self, content: Any, value: Any, timestamp: int | None) -> Any:
        if content is None:
            return [value]
        content.append(value)
        return grown(content)

    def fold(self, content: Any, value: Any) -> Any:
        return self.add(content, value, None)

    def merge(self, content: Any, other: Any) -> Any:
        content.extend(other)
        return grown(content)

    def results(self, content: Any) -> Iterable[Any]:
        return list(content)


class Evicted:
    """All values with their timestamps, which an evictor needs; they are aggregated or reduced
    only when the window fires."""

    def __init__(self, evictor: Evictor, then: Content) -> None:
        self._evictor = evictor
        self._then = then

    def add(self, content: Any, value: Any, timestamp: int | None) -> Any:
        if content is None:
            return [(value, timestamp)]
        content.append((value, timestamp))
        return content

    def fold(self, content: Any, value: Any) -> Any:
        raise TypeError("an evictor needs the values' timestamps")

    def merge(self, content: Any, other: Any) -> Any:
        return content + other

    def before(self, content: Any, window: Any, context: Any) -> list[TimestampedValue]:
        """What is left for the function."""
        elements = [TimestampedValue(*part) for part in content]
        self._evictor.evict_before(elements, len(elements), window, context)
        return elements

    def after(self, elements: list[TimestampedValue], window: Any, context: Any) -> Any:
        """What the window keeps."""
        self._evictor.evict_after(elements, len(elements), window, context)
        return [(element.value, element.timestamp) for element in elements] or None

    def results_of(self, elements: list[TimestampedValue]) -> Iterable[Any]:
        """What the window's function gets: nothing where nothing is left."""
        content = None
        for element in elements:
            content = self._then.add(content, element.value, element.timestamp)
        return () if content is None else self._then.results(content)

    def results(self, content: Any) -> Iterable[Any]:
        return self.results_of([TimestampedValue(*part) for part in content])


def kept_content(
    aggregate: AggregateFunction | None, reduce: Any, evictor: Evictor | None
) -> Content:
    """What a window keeps whose values are aggregated, reduced, or neither."""
    kept: Content
    if aggregate is not None:
        kept = Aggregated(aggregate)
    elif reduce is not None:
        kept = Reduced(method(reduce, "reduce"))
    else:
        kept = Listed()
    return kept if evictor is None else Evicted(evictor, kept)

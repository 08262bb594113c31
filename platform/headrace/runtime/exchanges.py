"""How records get from one stage to the next where no key decides.

Each of these depends on the sender and the record's place only, so that a micro-batch that is run
again sends the same records to the same places.
"""

from __future__ import annotations

import abc
import traceback
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headrace.runtime import keys
from headrace.runtime.frames import FrameWriter
from headrace.runtime.operators.operator import Element, OperatorError


@dataclass(frozen=True)
class Place:
    """The input of an operator, and the subtasks that its key groups are spread over."""

    op: int
    input: int
    parallelism: int


class Exchange(abc.ABC):
    """`ship` is what Flink's plan calls it."""

    ship: str

    @abc.abstractmethod
    def send(self, writer: FrameWriter, place: Place, elements: Sequence[Element]) -> None: ...


def among(exchange: Exchange | None, partitions: set[int | None]) -> Exchange | None:
    """The exchange in front of operators that ask for these parallelisms, or for none: where all
    agree, how many copies there are, and what a partitioner is told, is what Flink would make of
    it; else it is the subtasks."""
    if isinstance(exchange, Custom | ToEverySubtask) and len(partitions) == 1:
        return replace(exchange, partitions=next(iter(partitions)))
    return exchange


def _to_subtask(writer: FrameWriter, place: Place, subtask: int, elements: list[Element]) -> None:
    groups = keys.groups_of(subtask, place.parallelism, writer.max_parallelism)
    # of one subtask's groups any will do: each sender takes another one
    group = groups[writer.number % len(groups)]
    writer.to_group(group, place.op, place.input, elements)


@dataclass(frozen=True)
class Rebalance(Exchange):
    ship: str = "REBALANCE"

    def send(self, writer: FrameWriter, place: Place, elements: Sequence[Element]) -> None:
        n = place.parallelism
        turn = writer.turn(place.op, len(elements)) + writer.number
        for subtask in range(n):
            mine = list(elements[(subtask - turn) % n :: n])
            if mine:
                _to_subtask(writer, place, subtask, mine)


@dataclass(frozen=True)
class Shuffle(Exchange):
    ship: str = "SHUFFLE"

    def send(self, writer: FrameWriter, place: Place, elements: Sequence[Element]) -> None:
        turn = writer.turn(place.op, len(elements))
        parts: list[list[Element]] = [[] for _ in range(place.parallelism)]
        for position, element in enumerate(elements, turn):
            mixed = zlib.crc32(b"%d/%d" % (writer.number, position))
            parts[mixed % place.parallelism].append(element)
        for subtask, mine in enumerate(parts):
            if mine:
                _to_subtask(writer, place, subtask, mine)


@dataclass(frozen=True)
class Custom(Exchange):
    """`partition` gets a key and the number of partitions."""

    partition: Callable[[Any, int], int]
    selector: Callable[[Any], Any]
    ship: str = "CUSTOM"
    #: The parallelism that the operator behind it asks for; None: the subtasks.
    partitions: int | None = None

    def send(self, writer: FrameWriter, place: Place, elements: Sequence[Element]) -> None:
        parts: dict[int, list[Element]] = {}
        n = min(self.partitions or place.parallelism, writer.max_parallelism)
        value = None
        try:
            for element in elements:
                value = element[1]
                subtask = self.partition(self.selector(value), n)
                if not 0 <= subtask < n:
                    raise ValueError(f"partition {subtask} is outside 0..{n - 1}")
                parts.setdefault(subtask, []).append(element)
        except Exception as error:
            raise OperatorError("partition_custom", value, traceback.format_exc()) from error
        for subtask, mine in sorted(parts.items()):
            first = keys.groups_of(subtask, n, writer.max_parallelism)[0]
            writer.to_group(first, place.op, place.input, mine)


@dataclass(frozen=True)
class ToFirst(Exchange):
    """Everything to the first subtask."""

    ship: str = "GLOBAL"

    def send(self, writer: FrameWriter, place: Place, elements: Sequence[Element]) -> None:
        writer.to_group(0, place.op, place.input, elements)


@dataclass(frozen=True)
class ToEverySubtask(Exchange):
    ship: str = "BROADCAST"
    #: As `Custom.partitions`.
    partitions: int | None = None

    def send(self, writer: FrameWriter, place: Place, elements: Sequence[Element]) -> None:
        n = min(self.partitions or place.parallelism, writer.max_parallelism)
        for subtask in range(n):
            first = keys.groups_of(subtask, n, writer.max_parallelism)[0]
            writer.to_group(first, place.op, place.input, elements)


@dataclass(frozen=True)
class ToEveryGroup(Exchange):
    """For broadcast state, which each key group keeps; a host takes these before other data."""

    ship: str = "BROADCAST"

    def send(self, writer: FrameWriter, place: Place, elements: Sequence[Element]) -> None:
        writer.to_every_group(place.op, place.input, elements)


@dataclass(frozen=True)
class Home(Exchange):
    """All records of a sender to one key group: in order, and spread as the senders are."""

    ship: str = "FORWARD"

    def send(self, writer: FrameWriter, place: Place, elements: Sequence[Element]) -> None:
        writer.to_group(writer.home, place.op, place.input, elements)


@dataclass(frozen=True)
class OwnSubtask(Exchange):
    """From each subtask to its likes, so that two streams meet as they do in Flink's tasks."""

    ship: str = "FORWARD"

    def send(self, writer: FrameWriter, place: Place, elements: Sequence[Element]) -> None:
        group = keys.groups_of(writer.subtask, place.parallelism, writer.max_parallelism)[0]
        writer.to_group(group, place.op, place.input, elements)


@dataclass(frozen=True)
class Feedback(Exchange):
    """Back to the head of a loop, in the same key group."""

    ship: str = "FORWARD"

    def send(self, writer: FrameWriter, place: Place, elements: Sequence[Element]) -> None:
        writer.to_loop(place.op, elements)

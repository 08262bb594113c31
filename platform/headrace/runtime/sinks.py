"""Sinks that need no other system: standard output, a function, and the caller of the job."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.connectors.base import Sink

if TYPE_CHECKING:
    from headrace.runtime.frames import Record
    from headrace.runtime.program import Program


@dataclass(frozen=True)
class PrintSink(Sink):
    """One line a value, in PyFlink's form for declared types."""

    identifier: str | None
    type_info: TypeInformation | None
    to_err: bool = False

    @property
    def described(self) -> str:
        return "print"

    def line(self, value: Any, subtask: int = 0, parallelism: int = 1) -> str:
        """With the identifier and, where there are several subtasks, the subtask's number."""
        text = self.type_info.printed(value) if self.type_info else str(value)
        parts = [self.identifier] if self.identifier else []
        if parallelism > 1:
            parts.append(str(subtask + 1))
        return f"{':'.join(parts)}> {text}" if parts else text


def printed(program: Program, op: int, group: int, records: Iterable[Record]) -> list[str]:
    """The lines of a frame for a PrintSink. Its key group says which subtask prints them."""
    sink = program.sinks[op]
    parallelism = program.nodes[op].parallelism or program.parallelism
    subtask = group * parallelism // program.max_parallelism
    return [sink.line(value, subtask, parallelism) for _, _, value in records]


@dataclass(frozen=True)
class CollectSink(Sink):
    """Hands values to whoever called `execute_and_collect`."""

    type_info: TypeInformation | None = None

    @property
    def described(self) -> str:
        return "collect"

    def value(self, value: Any) -> Any:
        """As PyFlink hands it over: rows have the names of their declared fields."""
        return self.type_info.collected(value) if self.type_info else value


@dataclass(frozen=True)
class FunctionSink(Sink):
    """Calls a SinkFunction, or a function, for each value."""

    function: Any

    @property
    def described(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

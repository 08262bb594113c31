"""Sinks that need no other system: the driver's standard output, and the caller of the job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.connectors.base import Sink


@dataclass(frozen=True)
class PrintSink(Sink):
    """One line a value, in PyFlink's form for declared types."""

    identifier: str | None
    type_info: TypeInformation | None

    @property
    def described(self) -> str:
        return "print"

    def line(self, value: Any) -> str:
        text = self.type_info.format(value) if self.type_info else str(value)
        return f"{self.identifier}> {text}" if self.identifier else text


@dataclass(frozen=True)
class CollectSink(Sink):
    """Hands values to whoever called `execute_and_collect`."""

    @property
    def described(self) -> str:
        return "collect"

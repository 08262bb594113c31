"""Two streams without keys in one function object, as Flink's subtasks have it.

What the function keeps in its attributes is kept with the state of the job: the next batch may run
in another process.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.function import Function, RuntimeContext
from headrace.runtime.frames import dumps, loads
from headrace.runtime.operators.co_process import CoFunction, calls
from headrace.runtime.operators.operator import KeyedContext, KeyedOperator, emit_results
from headrace.runtime.operators.stateless import UnkeyedContext

_ATTRIBUTES = "attributes"
#: Objects that belong to the process: counters, contexts.
_OF_THE_RUNTIME = ("headrace.runtime", "headrace.metrics")


def keeps_attributes(function: Function) -> bool:
    """Whether its class sets attributes, in which its two inputs may leave each other something."""
    if type(function).open is not Function.open or "__init__" in _own(function):
        return True
    codes = [getattr(each, "__code__", None) for each in _own(function).values()]
    return any(
        instruction.opname == "STORE_ATTR"
        for code in codes
        if code is not None
        for instruction in dis.get_instructions(code)
    )


def _own(function: Function) -> dict[str, Any]:
    """What its classes define, Headrace's own left out."""
    kinds = [k for k in type(function).__mro__ if not k.__module__.startswith("headrace.")]
    found: dict[str, Any] = {}
    for kind in reversed(kinds[:-1]):  # the last one is object
        found |= vars(kind)
    return found


class SharedCoProcess(KeyedOperator):
    """Of one subtask, whose first key group holds the state."""

    def __init__(self, function: CoFunction, output_type: TypeInformation | None) -> None:
        self.function = function
        self.output_type = output_type

    def open(self, context: RuntimeContext, keyed: KeyedContext) -> None:
        self._calls = calls(self.function, self.output_type)
        self._context = UnkeyedContext(keyed)
        self.function.open(context)
        #: As opened, and the number of the batch that the attributes are of; -1: none.
        self._opened = self._attributes()
        self._version = 0
        self._batch: object = None

    def close(self) -> None:
        self.function.close()

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        if self._batch is not context.batch:
            self._batch = context.batch
            self._begin(context)
        self._context.element_time = context.timestamp
        emit_results(self._calls[input_](value, self._context), context, context.timestamp)

    def finish(self, context: KeyedContext) -> None:
        if self._batch is context.batch:
            self._version = (context.group_state(_ATTRIBUTES) or (0, None))[0] + 1
            context.set_group_state(_ATTRIBUTES, (self._version, self._attributes()))

    def _begin(self, context: KeyedContext) -> None:
        """Take the attributes from the state, unless they are those of this very object."""
        version, kept = context.group_state(_ATTRIBUTES) or (0, self._opened)
        if version != self._version:
            for name, pickled in kept.items():
                setattr(self.function, name, loads(pickled))
        self._version = -1  # until the batch has ended well

    def _attributes(self) -> dict[str, bytes]:
        found = {}
        for name, value in vars(self.function).items():
            if not type(value).__module__.startswith(_OF_THE_RUNTIME):
                pickled = _pickled(value, dumps)
                if pickled is not None:
                    found[name] = pickled
        return found


def _pickled(value: Any, dump: Callable[[Any], bytes]) -> bytes | None:
    try:
        return dump(value)
    except Exception:  # a connection, a lock: it belongs to the process
        return None

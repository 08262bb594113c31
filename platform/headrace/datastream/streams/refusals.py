"""What a graph is refused for as soon as it is asked for."""

from __future__ import annotations

import dis
from itertools import pairwise
from types import CodeType
from typing import Any, NoReturn

from headrace.runtime.transformations import GraphError, line_of_program

_KEYED_STATE = {
    "get_state",
    "get_list_state",
    "get_map_state",
    "get_reducing_state",
    "get_aggregating_state",
}


def refuse(problem: str) -> NoReturn:
    """Raises GraphError with the line of the job's program."""
    line = line_of_program()
    raise GraphError(f"{problem} ({line})" if line else problem)


def refuse_no_function(kind: str, function: Any) -> None:
    """Raises TypeError, as PyFlink does, for what can be no function of a stream's `kind`; a
    process function may be anything that has its methods."""
    if kind != "process" and not callable(function) and not hasattr(function, kind):
        name = "".join(part.capitalize() for part in kind.split("_"))
        raise TypeError(f"{kind} takes a {name}Function or a function, not {function!r:.80}")


def refuse_keyed_state(function: Any, why: str) -> None:
    """Raises GraphError where the function's `open` asks its context for keyed state."""
    code = getattr(getattr(type(function), "open", None), "__code__", None)
    asked = _asked_of_context(code) if code is not None else set()
    if asked:
        name = type(function).__name__
        refuse(f"{name} asks for keyed state ({', '.join(sorted(asked))}), but {why}")


def _asked_of_context(code: CodeType) -> set[str]:
    """The keyed states that a function asks its second parameter for."""
    context = code.co_varnames[1:2]
    return {
        instruction.argval
        for before, instruction in pairwise(dis.get_instructions(code))
        if before.opname.startswith("LOAD_FAST")
        and (before.argval,) == context
        and instruction.opname in ("LOAD_METHOD", "LOAD_ATTR")
        and instruction.argval in _KEYED_STATE
    }

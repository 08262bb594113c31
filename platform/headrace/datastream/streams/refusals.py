"""What a graph is refused for as soon as it is asked for."""

from __future__ import annotations

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


def refuse_keyed_state(function: Any, why: str) -> None:
    """Raises GraphError where the function's `open` asks its context for keyed state."""
    code = getattr(getattr(type(function), "open", None), "__code__", None)
    asked = _KEYED_STATE.intersection(code.co_names) if code is not None else ()
    if asked:
        name = type(function).__name__
        refuse(f"{name} asks for keyed state ({', '.join(sorted(asked))}), but {why}")

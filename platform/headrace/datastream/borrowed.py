"""Names that PyFlink's modules import for themselves, and that programs take from there."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def borrowed(module: str, *sources: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that gives the public names of others, too: a program may say
    `from headrace.datastream.window import Time`. Imported when asked for."""

    def find(name: str) -> Any:
        for source in () if name.startswith("_") else sources:
            found = importlib.import_module(source)
            if hasattr(found, name):
                return getattr(found, name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return find

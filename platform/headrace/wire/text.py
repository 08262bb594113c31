"""Text of a driver as every database takes it.

A job may print or raise anything. Postgres refuses U+0000 in text and in JSON, and no database
takes half of a surrogate pair; one such character would keep the row that holds it, and with it
the attempt's end, from ever being written.
"""

from __future__ import annotations

import re
from typing import TypeVar

_SURROGATE = re.compile("[\ud800-\udfff]")

T = TypeVar("T")


def storable(text: str) -> str:
    """`text` without NULs, and with U+FFFD for each lone surrogate."""
    return _SURROGATE.sub("\ufffd", text.replace("\0", ""))


def all_storable(value: T) -> T:
    """A value of JSON with each string in it storable, names of fields included."""
    match value:
        case str():
            return storable(value)  # type: ignore[return-value]
        case dict():
            return {all_storable(k): all_storable(v) for k, v in value.items()}  # type: ignore[return-value]
        case list():
            return [all_storable(item) for item in value]  # type: ignore[return-value]
    return value

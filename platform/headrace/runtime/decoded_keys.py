"""Keys from their bytes: the inverse of `keys.encode`, as far as the bytes tell.

Rows come without names and dataclasses as tuples of their fields; members of enumerations are
text, "Colour.RED".
"""

from __future__ import annotations

import pickle
from typing import Any

from headrace.common.types import Row


def decode(encoded: bytes) -> Any:
    """Raises ValueError for what is no key."""
    kind, body = encoded[:1], encoded[1:]
    match kind:
        case b"s":
            return body.decode("utf-8", "surrogatepass")
        case b"i":
            return int(body)
        case b"b":
            return body
        case b"v":
            return _atom(body.decode())
        case b"t":
            return _values(body)
        case b"r":
            return Row(*_values(body))
        case b"n":
            return ".".join(_values(body))
        case b"d":
            return _values(body)[1:]
        case b"l":
            return list(_values(body))
        case b"m":
            return dict(map(_values, _values(body)))
        case b"h":
            return frozenset(map(decode, _values(body)))
        case b"p":
            return pickle.loads(body)
    raise ValueError(f"{encoded[:40]!r} is no key's bytes")


def parts(joined: bytes) -> list[bytes]:
    """Of `keys`' joined form: each with its length before it."""
    found = []
    at = 0
    while at < len(joined):
        colon = joined.index(b":", at)
        end = colon + 1 + int(joined[at:colon])
        found.append(joined[colon + 1 : end])
        at = end
    return found


def _values(joined: bytes) -> tuple[Any, ...]:
    return tuple(decode(part) for part in parts(joined))


def _atom(text: str) -> Any:
    known = {"None": None, "True": True, "False": False}
    return known[text] if text in known else float(text)

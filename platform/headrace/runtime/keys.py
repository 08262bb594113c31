"""Keys as bytes, and the key group a key belongs to.

A key's bytes find its state again after a restart, and its key group decides the partition, so
both must be the same on every machine and in every process: Python's `hash` and plain pickle
(whose output depends on object identity) will not do.
"""

from __future__ import annotations

import io
import pickle
import zlib
from typing import Any


def encode(key: Any) -> bytes:
    """The same bytes for equal keys of the same types."""
    kind = type(key)
    if kind is str:
        return b"s" + str(key).encode("utf-8", "surrogatepass")
    if kind is int:
        return b"i%d" % key
    if kind is bytes:
        return b"b" + bytes(key)
    if key is None or kind is bool or kind is float:
        return b"v" + repr(key).encode()
    if kind is tuple:
        parts = [encode(part) for part in key]
        return b"t" + b"".join(b"%d:" % len(part) + part for part in parts)
    return b"p" + _pickled(key)


def _pickled(key: Any) -> bytes:
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=5)
    pickler.fast = True  # no memo: equal values give equal bytes whatever their identities
    pickler.dump(key)
    return buffer.getvalue()


def key_group(key: Any, max_parallelism: int) -> int:
    """0 <= group < max_parallelism, spread evenly."""
    return _mix(zlib.crc32(encode(key))) % max_parallelism


def _mix(number: int) -> int:
    """Spreads neighbouring numbers; MurmurHash3's 32-bit finaliser."""
    number ^= number >> 16
    number = number * 0x85EBCA6B & 0xFFFFFFFF
    number ^= number >> 13
    number = number * 0xC2B2AE35 & 0xFFFFFFFF
    return number ^ number >> 16

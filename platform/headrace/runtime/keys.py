"""Keys as bytes, and the key group a key belongs to.

A key's bytes find its state again after a restart, and its key group decides the partition, so
both must be the same on every machine and in every process: Python's `hash` and plain pickle
(whose output depends on object identity) will not do.
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from headrace.common.types import Row


def encode(key: Any) -> bytes:
    """The same bytes for equal keys of the same type. Raises TypeError for a key that has no
    such bytes."""
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
        return b"t" + _joined(key)
    return _encode_object(key)


def _joined(parts: Iterable[Any]) -> bytes:
    encoded = [encode(part) for part in parts]
    return b"".join(b"%d:" % len(part) + part for part in encoded)


def _encode_object(key: Any) -> bytes:
    name = type(key).__qualname__
    if isinstance(key, Row):
        return b"r" + _joined(key)
    if isinstance(key, Enum):
        return b"n" + _joined((name, key.name))
    if is_dataclass(key):
        return b"d" + _joined((name, *(getattr(key, f.name) for f in fields(key))))
    if isinstance(key, list):
        return b"l" + _joined(key)
    if isinstance(key, dict):
        return b"m" + _joined(sorted(_joined(item) for item in key.items()))
    if isinstance(key, set | frozenset):
        return b"h" + _joined(sorted(encode(part) for part in key))
    return b"p" + _pickled(key)


def _pickled(key: Any) -> bytes:
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=5)
    pickler.fast = True  # no memo: equal values give equal bytes whatever their identities
    try:
        pickler.dump(key)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"a {type(key).__qualname__} cannot be a key ({error}); use a string, a number, a "
            "tuple, a Row, an Enum or a dataclass"
        ) from error
    return buffer.getvalue()


def key_group(key: Any, max_parallelism: int) -> int:
    """0 <= group < max_parallelism, spread evenly."""
    return _mix(zlib.crc32(encode(key))) % max_parallelism


def subtask_of(group: int, parallelism: int, max_parallelism: int) -> int:
    """The subtask that a key group belongs to, as in Flink."""
    return group * parallelism // max_parallelism


def groups_of(subtask: int, parallelism: int, max_parallelism: int) -> range:
    """The key groups of a subtask; `parallelism` is at most `max_parallelism`."""
    first = -(-subtask * max_parallelism // parallelism)
    return range(first, -(-(subtask + 1) * max_parallelism // parallelism))


def _mix(number: int) -> int:
    """Spreads neighbouring numbers; MurmurHash3's 32-bit finaliser."""
    number ^= number >> 16
    number = number * 0x85EBCA6B & 0xFFFFFFFF
    number ^= number >> 13
    number = number * 0xC2B2AE35 & 0xFFFFFFFF
    return number ^ number >> 16

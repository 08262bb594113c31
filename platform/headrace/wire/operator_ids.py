"""Ids of operators and vertices: 32 hexadecimal digits, as Flink makes them of a uid.

Flink hashes the uid with 128-bit MurmurHash3 (x64, seed 0); the id of a chain is that of its head.
So an operator with a uid of its own has the same id here and there. One without has the hash of
the uid that the compiler made for it, which stays while the graph stays.
"""

from __future__ import annotations

import re
import struct

_HASH = re.compile(r"[0-9a-f]{32}", re.IGNORECASE)
_MASK = (1 << 64) - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F


def operator_id(uid: str) -> str:
    """Of a uid; a uid that is such an id itself (`set_uid_hash`) is taken as it is."""
    return uid.lower() if _HASH.fullmatch(uid) else murmur3(uid.encode()).hex()


def murmur3(data: bytes) -> bytes:
    """The 128-bit MurmurHash3 for x64 with seed 0: 16 bytes."""
    first = second = 0
    whole = len(data) // 16 * 16
    for one, two in struct.iter_unpack("<QQ", data[:whole]):
        first ^= _mixed_one(one)
        first = (_rotated(first, 27) + second) * 5 + 0x52DCE729 & _MASK
        second ^= _mixed_two(two)
        second = (_rotated(second, 31) + first) * 5 + 0x38495AB5 & _MASK
    tail = data[whole:]
    first ^= _mixed_one(int.from_bytes(tail[:8], "little"))
    second ^= _mixed_two(int.from_bytes(tail[8:], "little"))
    first ^= len(data)
    second ^= len(data)
    first = first + second & _MASK
    second = second + first & _MASK
    first, second = _finished(first), _finished(second)
    first = first + second & _MASK
    second = second + first & _MASK
    return struct.pack("<QQ", first, second)


def _mixed_one(value: int) -> int:
    return _rotated(value * _C1 & _MASK, 31) * _C2 & _MASK


def _mixed_two(value: int) -> int:
    return _rotated(value * _C2 & _MASK, 33) * _C1 & _MASK


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> 64 - by) & _MASK


def _finished(value: int) -> int:
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & _MASK
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return value ^ value >> 33

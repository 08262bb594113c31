"""Room on disk of what is not needed any more, given back without moving what follows it."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

#: Of Linux: <linux/falloc.h>.
_KEEP_SIZE, _PUNCH_HOLE = 1, 2


def punch(path: Path, until: int) -> bool:
    """Give back what a file takes before byte `until`: it keeps its size, and reads as zeros there.
    False where the system or the file system cannot; nothing is changed then."""
    try:
        fallocate = ctypes.CDLL(None, use_errno=True).fallocate
    except (OSError, AttributeError):
        return False
    fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    fd = os.open(path, os.O_RDWR)
    try:
        return bool(fallocate(fd, _KEEP_SIZE | _PUNCH_HOLE, 0, until) == 0)
    finally:
        os.close(fd)

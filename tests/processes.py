"""What the tests ask of processes that may end while they are asked."""

from __future__ import annotations

import psutil


def command_line(process: psutil.Process) -> str:
    """The words of its command with spaces between; empty when it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""

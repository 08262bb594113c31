"""PyFlink's `pyflink.datastream.checkpointing_mode`."""

from __future__ import annotations

from enum import Enum


class CheckpointingMode(Enum):
    """Every micro-batch is a consistent snapshot, so both modes are exactly-once inside the job;
    they differ in what a sink promises outside of it."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1

"""PyFlink's `pyflink.common.job_id`."""

from __future__ import annotations


class JobID(str):
    """32 hexadecimal digits."""

    __slots__ = ()

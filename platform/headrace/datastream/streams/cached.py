"""Streams that are marked for use by several jobs."""

from __future__ import annotations

from headrace.datastream.streams.stream import DataStream


class CachedDataStream(DataStream):
    """A stream that PyFlink would keep; here it is computed anew by each job."""

    def invalidate(self) -> None:
        """Nothing is kept, so there is nothing to forget."""

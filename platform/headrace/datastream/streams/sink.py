"""The end of a stream."""

from __future__ import annotations

from headrace.datastream.node_settings import NodeSettings
from headrace.runtime.transformations import SinkTransformation, Transformation


class DataStreamSink(NodeSettings):
    """What `sink_to`, `add_sink` and `print` give back: the sink's settings."""

    def __init__(self, transformation: SinkTransformation) -> None:
        self._transformation = transformation

    @property
    def _node(self) -> Transformation:
        return self._transformation

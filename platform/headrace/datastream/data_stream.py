"""Streams and what can be done with them; PyFlink's `pyflink.datastream.data_stream`.

Nothing runs here: each call adds a node to the stream graph, which `execute` compiles.
"""

from headrace.datastream.borrowed import borrowed
from headrace.datastream.closeable_iterator import CloseableIterator
from headrace.datastream.streams.broadcast import BroadcastConnectedStream, BroadcastStream
from headrace.datastream.streams.cached import CachedDataStream
from headrace.datastream.streams.connected import ConnectedStreams
from headrace.datastream.streams.keyed import KeyedStream
from headrace.datastream.streams.sink import DataStreamSink
from headrace.datastream.streams.stream import DataStream
from headrace.datastream.streams.windowed import AllWindowedStream, WindowedStream

__getattr__ = borrowed(
    __name__, "headrace.datastream.window", "headrace.datastream", "headrace.common.typeinfo"
)

__all__ = [
    "AllWindowedStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "KeyedStream",
    "WindowedStream",
]

"""Streams that come round again, which PyFlink has none of; Java's `IterativeStream`."""

from __future__ import annotations

from headrace.datastream.streams.keyed import KeyedStream
from headrace.datastream.streams.refusals import refuse
from headrace.datastream.streams.stream import DataStream
from headrace.runtime.exchanges import Home
from headrace.runtime.operators.loop import Loop
from headrace.runtime.transformations import Edge, LoopTransformation


class IterativeStream(DataStream):
    """The values of a stream, and those that `close_with` sends back to it.

    The loop runs within a key group and within a micro-batch, 1,000 times round at the most; what
    comes back then is state, and goes on with the next batch. At the end of input the loop runs
    until nothing comes back. Its body takes functions without state, side outputs and async I/O:
    an exchange (key_by, a window, partitioning) is refused within the loop, as one micro-batch
    passes it once. On a keyed stream values of one key stay in their order."""

    def __init__(self, stream: DataStream) -> None:
        if isinstance(stream, KeyedStream):
            edges = stream._keyed_edges()
        else:
            edges = [Edge(edge.source, edge.tag, exchange=Home()) for edge in stream._edges]
        self._loop = LoopTransformation(
            name="Iteration", inputs=edges, operator=Loop(), output_type=stream.get_type()
        )
        super().__init__(stream._environment, [Edge(self._loop)])

    def close_with(self, feedback_stream: DataStream) -> DataStream:
        """Send the values of a stream of the loop's body back to its head. What leaves the loop is
        any other stream of its body."""
        if isinstance(feedback_stream, KeyedStream):
            refuse("a keyed stream cannot close an iteration")
        self._loop.feedback += feedback_stream._edges
        return feedback_stream

"""Sources that end in a job that does not: event time must wait for them no more.

Of Kafka sources the driver knows where they end. Any other shows it in a batch that finds nothing
new in it: Spark's log says so.
"""

from __future__ import annotations

from headrace.datastream.connectors.kafka import KafkaSource
from headrace.runtime import spark_sources
from headrace.runtime.program import Program
from headrace.runtime.spark_offsets import SparkOffsets

#: The one split of these sources.
_SPLIT = "0"


class BoundedSources:
    """Of one job, Kafka sources left out."""

    def __init__(self, program: Program, offsets: SparkOffsets) -> None:
        self._offsets = offsets
        #: "<source's node>:<split>" -> the sources that Spark sees of it
        self._places: dict[str, range] = {}
        index = 0
        for number, source in program.sources.items():
            count = spark_sources.count(source)
            if source.bounded and not isinstance(source, KafkaSource):
                self._places[f"{number}:{_SPLIT}"] = range(index, index + count)
            index += count

    @property
    def splits(self) -> set[str]:
        return set(self._places)

    def ended(self) -> set[str]:
        """Those in which the newest batch has found nothing new."""
        newest = self._offsets.completed
        if not newest:
            return set()
        return {
            split
            for split, places in self._places.items()
            if all(self._offsets.stood_still(newest, place) for place in places)
        }

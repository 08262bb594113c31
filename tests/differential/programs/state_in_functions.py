"""State in the map, flat_map and filter functions of a keyed stream, and of several types."""

# runs: whole 1
# order: key
from pyflink.common import Row, Types
from pyflink.datastream import (
    FilterFunction,
    FlatMapFunction,
    MapFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor

PAIRS = [("a", 1), ("b", 2), ("a", 3), ("a", 3), ("b", 2), ("a", 1), ("b", 9)]


class Counted(MapFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(
            ValueStateDescriptor("count", Types.PICKLED_BYTE_ARRAY())
        )

    def map(self, value):
        self.count.update({"n": (self.count.value() or {"n": 0})["n"] + 1})
        return value[0], self.count.value()


class Distinct(FilterFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(
            MapStateDescriptor("seen", Types.INT(), Types.BOOLEAN())
        )

    def filter(self, value):
        known = self.seen.contains(value[1])
        self.seen.put(value[1], True)
        return not known


class Pairs(FlatMapFunction):
    def open(self, runtime_context):
        row = Types.ROW_NAMED(["s", "x"], [Types.STRING(), Types.FLOAT()])
        self.buffer = runtime_context.get_list_state(ListStateDescriptor("buffer", row))
        self.names = runtime_context.get_state(
            ValueStateDescriptor("names", Types.LIST(Types.STRING()))
        )

    def flat_map(self, value):
        self.buffer.add(Row(value[0], value[1] / 10))
        self.names.update((self.names.value() or []) + [str(value[1])])
        buffered = list(self.buffer.get())
        if len(buffered) == 2:
            self.buffer.clear()
            yield value[0], [list(row) for row in buffered], self.names.value()


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    keyed = env.from_collection(PAIRS, Types.TUPLE([Types.STRING(), Types.INT()])).key_by(
        lambda p: p[0]
    )
    keyed.map(Counted()).print("map")
    keyed.filter(Distinct()).print("filter")
    keyed.flat_map(Pairs()).print("flat_map")
    env.execute()


if __name__ == "__main__":
    main()

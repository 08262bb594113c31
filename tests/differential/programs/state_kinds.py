"""Value, list, map, reducing and aggregating state of a key."""

# runs: whole 1
# order: key
from pyflink.common import Types
from pyflink.datastream import (
    AggregateFunction,
    KeyedProcessFunction,
    ReduceFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)

PAIRS = [
    ("a", 1),
    ("b", 2),
    ("a", 3),
    ("a", 4),
    ("b", 1),
    ("a", 0),
    ("a", 5),
    ("b", 0),
    ("c", 1),
    ("a", 2),
]


class Sum(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 + value2


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Everything(KeyedProcessFunction):
    """0 clears it all."""

    def open(self, runtime_context):
        pair = Types.TUPLE([Types.INT(), Types.LONG()])
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.INT()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.INT()))
        self.map = runtime_context.get_map_state(
            MapStateDescriptor("map", Types.INT(), Types.STRING())
        )
        self.sum = runtime_context.get_reducing_state(
            ReducingStateDescriptor("sum", Sum(), Types.INT())
        )
        self.mean = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("mean", Mean(), pair)
        )

    def process_element(self, value, ctx):
        key, n = value
        yield (
            key,
            n,
            "before",
            self.value.value(),
            list(self.list.get() or []),
            self.sum.get(),
            self.mean.get(),
        )
        if n == 0:
            for state in (self.value, self.list, self.map, self.sum, self.mean):
                state.clear()
        else:
            self.value.update(n)
            self.list.add(n)
            self.map.put(n, str(n) * n)
            self.sum.add(n)
            self.mean.add(n)
        if n == 4:
            self.list.update([7, 8])
        if n == 5:
            self.list.add_all([1, 2])
        if n == 3:
            self.map.put_all({10: "ten", 11: "eleven"}.items())
            self.map.remove(1)
            self.map[12] = "twelve"
            del self.map[11]
        entries = sorted(self.map.items() or [])
        yield (
            key,
            n,
            "map",
            entries,
            sorted(self.map.keys()),
            sorted(self.map.values()),
            self.map.is_empty(),
            10 in self.map,
            self.map.contains(1),
        )
        yield key, n, "got", self.map.get(99), self.map[n]
        yield (
            key,
            n,
            "after",
            self.value.value(),
            list(self.list.get() or []),
            self.sum.get(),
            self.mean.get(),
        )


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    pairs = env.from_collection(PAIRS, Types.TUPLE([Types.STRING(), Types.INT()]))
    pairs.key_by(lambda p: p[0], Types.STRING()).process(Everything()).print()
    env.execute()


if __name__ == "__main__":
    main()

"""Count windows, tumbling and sliding."""

# runs: whole 1
# order: key
from pyflink.common import Types
from pyflink.datastream import AggregateFunction, StreamExecutionEnvironment, WindowFunction
from pyflink.datastream.window import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
)

PAIRS = [
    ("a", 1),
    ("b", 10),
    ("a", 2),
    ("a", 3),
    ("b", 20),
    ("a", 4),
    ("a", 5),
    ("b", 30),
    ("a", 6),
    ("a", 7),
]


class Numbers(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, window.id, [each[1] for each in inputs]


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    keyed = env.from_collection(PAIRS, Types.TUPLE([Types.STRING(), Types.INT()])).key_by(
        lambda e: e[0]
    )
    keyed.count_window(2).reduce(lambda x, y: (x[0], x[1] + y[1])).print("two")
    keyed.count_window(3).apply(Numbers()).print("three")
    keyed.count_window(4, 2).apply(Numbers()).print("four by two")
    keyed.count_window(2, 3).apply(Numbers()).print("two by three")
    keyed.count_window(3, 1).apply(Numbers()).print("three by one")
    keyed.window(CountTumblingWindowAssigner.of(2)).aggregate(Sum()).print("assigner")
    keyed.window(CountSlidingWindowAssigner.of(3, 2)).apply(Numbers()).print("sliding assigner")
    env.execute()


if __name__ == "__main__":
    main()

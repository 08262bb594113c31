"""map, flat_map and filter, with functions and with classes."""

from pyflink.common import Types
from pyflink.datastream import (
    FilterFunction,
    FlatMapFunction,
    MapFunction,
    StreamExecutionEnvironment,
)


class Add(MapFunction):
    def __init__(self, number):
        self.number = number

    def open(self, runtime_context):
        self.opened = 100

    def map(self, value):
        return value + self.number + self.opened


class Divisors(FlatMapFunction):
    def flat_map(self, value):
        for n in range(1, value + 1):
            if value % n == 0:
                yield value, n


class Even(FilterFunction):
    def filter(self, value):
        return value % 2 == 0


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection([1, 2, 3, 4, 5, 6], Types.INT())
    numbers.map(Add(7), Types.INT()).print("add")
    numbers.map(lambda n: n * n).print("untyped")
    numbers.map(lambda n: (n, str(n)), Types.TUPLE([Types.INT(), Types.STRING()])).print("pair")
    numbers.flat_map(Divisors(), Types.TUPLE([Types.INT(), Types.INT()])).print("divisors")
    numbers.flat_map(lambda n: range(n)).print("range")
    numbers.filter(Even()).print("even")
    numbers.filter(lambda n: n > 4).map(lambda n: -n, Types.LONG()).print("negative")
    env.execute("basics")


if __name__ == "__main__":
    main()

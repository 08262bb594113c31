"""reduce on keyed streams: every partial result, by key."""

# runs: whole 1
# order: key
from pyflink.common import Row, Types
from pyflink.datastream import ReduceFunction, StreamExecutionEnvironment

PAIRS = [("a", 3), ("b", 1), ("a", 1), ("c", 9), ("a", 2), ("b", 5), ("b", 0)]


class Largest(ReduceFunction):
    def open(self, runtime_context):
        self.opened = True

    def reduce(self, value1, value2):
        assert self.opened
        return value1 if value1[1] >= value2[1] else value2


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    typed = env.from_collection(PAIRS, pair)
    typed.key_by(lambda p: p[0]).reduce(lambda x, y: (x[0], x[1] + y[1])).print("sum")
    typed.key_by(lambda p: p[0], Types.STRING()).reduce(Largest()).print("largest")
    env.from_collection(PAIRS).key_by(lambda p: p[0]).reduce(
        lambda x, y: (x[0], x[1] * 10 + y[1])
    ).print("untyped")
    rows = env.from_collection(
        [Row(*p) for p in PAIRS], Types.ROW_NAMED(["key", "n"], [Types.STRING(), Types.INT()])
    )
    rows.key_by(lambda r: r["key"]).reduce(lambda x, y: Row(x[0], x[1] + y[1])).print("rows")
    typed.key_by(lambda p: p[1] % 2 == 0).reduce(lambda x, y: ("all", x[1] + y[1])).map(
        lambda v: v[1]
    ).print("by a bool")
    typed.map(lambda p: p[1], Types.INT()).key_by(lambda n: 0).reduce(lambda x, y: x + y).print(
        "one key"
    )
    env.execute()


if __name__ == "__main__":
    main()

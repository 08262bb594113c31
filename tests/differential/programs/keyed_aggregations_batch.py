"""Keyed functions in BATCH mode: final results only."""

from pyflink.common import Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

TRIPLES = [
    ("a", 3, 1.5),
    ("b", 1, 0.5),
    ("a", 1, 2.5),
    ("a", 3, 9.5),
    ("b", 5, 0.5),
    ("a", 1, 7.5),
    ("b", 0, 1.0),
]


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.DOUBLE()])
    keyed = env.from_collection(TRIPLES, triple).key_by(lambda t: t[0])
    keyed.reduce(lambda x, y: (x[0], x[1] + y[1], max(x[2], y[2]))).print("reduce")
    keyed.sum(1).map(lambda t: t[:2]).print("sum")
    keyed.min(1).map(lambda t: t[:2]).print("min")
    keyed.max(2).map(lambda t: (t[0], t[2])).print("max")
    keyed.min_by(1).map(lambda t: t[:2]).print("min_by")
    keyed.max_by(2).print("max_by")
    keyed.map(lambda t: t[1] * 2).print("map")
    env.execute()


if __name__ == "__main__":
    main()

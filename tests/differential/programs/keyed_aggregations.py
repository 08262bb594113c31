"""sum, min, max, min_by and max_by as a stream: every partial result."""

# runs: whole 1
# order: key
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

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
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.DOUBLE()])
    keyed = env.from_collection(TRIPLES, triple).key_by(lambda t: t[0])
    keyed.sum(1).print("sum")
    keyed.sum(2).print("sum of floats")
    keyed.min(1).print("min")
    keyed.max(1).print("max")
    keyed.min_by(1).print("min_by")
    keyed.max_by(1).print("max_by")
    keyed.max_by(2).print("max_by of floats")
    named = Types.ROW_NAMED(["key", "n", "x"], [Types.STRING(), Types.INT(), Types.DOUBLE()])
    rows = env.from_collection([Row(*t) for t in TRIPLES], named).key_by(lambda r: r[0])
    rows.sum("n").print("row sum")
    rows.min("n").print("row min")
    rows.max_by("n").print("row max_by")
    rows.sum(2).print("row sum by position")
    env.from_collection([3, 1, 2, 9, 4], Types.INT()).key_by(lambda n: n % 2).sum().map(
        lambda n: n
    ).print("numbers")
    env.execute()


if __name__ == "__main__":
    main()

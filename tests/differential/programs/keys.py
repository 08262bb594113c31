"""Keys of every type, and keys by position and name."""

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

VALUES = [
    (1, "a", 0.5, True),
    (2, "b", 1.5, False),
    (1, "a", 0.5, True),
    (2, "a", 0.25, True),
    (3, "", 1.5, False),
]


def count(stream, key, key_type=None):
    ones = stream.map(lambda v: (v, 1))
    keyed = (
        ones.key_by(lambda pair: key(pair[0]), key_type)
        if key_type
        else ones.key_by(lambda pair: key(pair[0]))
    )
    return keyed.reduce(lambda x, y: (x[0], x[1] + y[1])).map(lambda pair: (key(pair[0]), pair[1]))


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    values = env.from_collection(VALUES)
    count(values, lambda v: v[0], Types.INT()).print("int")
    count(values, lambda v: v[1], Types.STRING()).print("string")
    count(values, lambda v: v[2], Types.DOUBLE()).print("double")
    count(values, lambda v: v[3], Types.BOOLEAN()).print("bool")
    count(values, lambda v: (v[0], v[1]), Types.TUPLE([Types.INT(), Types.STRING()])).print("tuple")
    count(values, lambda v: v[0]).print("undeclared int")
    count(values, lambda v: (v[0], v[1])).print("undeclared tuple")
    count(values, lambda v: v[1] or None).print("None")
    count(values, lambda v: Row(v[1], v[0]), Types.ROW([Types.STRING(), Types.INT()])).print("row")
    count(values, lambda v: v[0] if v[3] else str(v[0])).print("mixed")
    env.execute()


if __name__ == "__main__":
    main()

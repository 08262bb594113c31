"""None as a value and in fields."""

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1, None, 2]).map(lambda v: v).print("undeclared")
    pair = Types.ROW([Types.STRING(), Types.INT()])
    env.from_collection([Row("a", None), Row(None, 1), Row(None, None)], pair).print("row")
    env.from_collection([1, 2]).map(lambda n: Row(None, n), pair).print("mapped row")
    env.from_collection([1, 2]).map(lambda n: None).print("mapped to None")
    env.from_collection(["x"]).flat_map(lambda v: [None, v]).print("flat")
    env.execute()


if __name__ == "__main__":
    main()

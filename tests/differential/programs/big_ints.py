"""Whole numbers of any size, as BIG_INT."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).map(lambda n: 2**70, Types.BIG_INT()).print()
    env.execute()


if __name__ == "__main__":
    main()

"""A key that cannot be computed, before a function that keeps nothing by key."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([0], Types.INT()).key_by(lambda n: 1 // n).map(lambda n: n).print()
    try:
        env.execute()
        print("runs")
    except Exception:
        print("fails")


if __name__ == "__main__":
    main()

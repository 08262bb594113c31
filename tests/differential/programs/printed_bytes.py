"""How bytes print without a declared type."""

# runs: whole 1
from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([b"bytes"]).map(lambda v: v).print()
    env.execute()


if __name__ == "__main__":
    main()

"""Lists of a declared type, straight from the source."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([[1, 2], []], Types.LIST(Types.INT())).print()
    env.execute()


if __name__ == "__main__":
    main()

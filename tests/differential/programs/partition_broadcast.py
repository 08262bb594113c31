"""broadcast: every subtask gets every value."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection([1, 2, 3], Types.INT())
    numbers.broadcast().map(lambda n: n * 10).print("broadcast")
    env.execute()


if __name__ == "__main__":
    main()

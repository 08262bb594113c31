"""How undeclared values print straight from the source."""

from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1, "a", (2, "b"), None, [1.5]]).print()
    env.execute()


if __name__ == "__main__":
    main()

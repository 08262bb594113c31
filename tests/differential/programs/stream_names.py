"""What sources, undeclared and keyed streams say of themselves."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection([1], Types.INT())
    print(stream.get_name(), stream.get_type())
    print(stream.map(lambda n: n).get_type(), stream.key_by(lambda n: n).get_type())


if __name__ == "__main__":
    main()

"""How arrays print, straight from the source and mapped."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    ints = Types.PRIMITIVE_ARRAY(Types.INT())
    env.from_collection([[1, 2]], ints).print("ints")
    env.from_collection([1]).map(lambda n: ["a", None], Types.BASIC_ARRAY(Types.STRING())).print(
        "strings"
    )
    env.execute()


if __name__ == "__main__":
    main()

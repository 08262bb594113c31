"""A fraction where a whole number was declared."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

CASES = {
    "float for int": (Types.INT(), 1.5),
}


def main():
    for name, (type_info, value) in CASES.items():
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([0], Types.INT()).map(lambda _, value=value: value, type_info).print(
            name
        )
        try:
            env.execute()
            print(name, "runs")
        except Exception:
            print(name, "fails")


if __name__ == "__main__":
    main()

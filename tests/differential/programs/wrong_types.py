"""Values that are not of the declared type: does the job fail?"""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

CASES = {
    "string for int": (Types.INT(), "one"),
    "int for string": (Types.STRING(), 1),
    "int too large": (Types.INT(), 2**40),
    "long too large": (Types.LONG(), 2**70),
    "byte too large": (Types.BYTE(), 300),
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

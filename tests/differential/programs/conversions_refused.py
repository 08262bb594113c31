"""Sequences of another kind than the declared type's."""

# runs: whole 1
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

CASES = {
    "tuple to row": (Types.ROW([Types.INT(), Types.STRING()]), (1, "a")),
    "list to tuple": (Types.TUPLE([Types.INT(), Types.STRING()]), [1, "a"]),
    "tuple to list": (Types.LIST(Types.INT()), (1, 2)),
    "row to tuple": (Types.TUPLE([Types.INT(), Types.STRING()]), Row(1, "a")),
}


def main():
    for name, (type_info, value) in CASES.items():
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([0], Types.INT()).map(lambda _, value=value: value, type_info).print(
            name
        )
        try:
            env.execute()
        except Exception:
            print(name, "fails")


if __name__ == "__main__":
    main()

"""What declared types make of values that do not quite fit."""

# runs: whole 1
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

CASES = {
    "float rounds": (Types.FLOAT(), 0.1),
    "int to double": (Types.DOUBLE(), 1),
    "int to float": (Types.FLOAT(), 3),
    "nested float": (Types.TUPLE([Types.FLOAT(), Types.DOUBLE()]), (0.1, 0.1)),
    "list of floats": (Types.LIST(Types.FLOAT()), [0.1, 0.2]),
    "map of floats": (Types.MAP(Types.STRING(), Types.FLOAT()), {"a": 0.1}),
    "row with names": (Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.INT()]), Row(b=2, a=1)),
}


def main():
    for name, (type_info, value) in CASES.items():
        env = StreamExecutionEnvironment.get_execution_environment()
        made = env.from_collection([0], Types.INT()).map(lambda _, value=value: value, type_info)
        made.print(name)
        made.map(lambda v: repr(v), Types.STRING()).print(name + " in Python")
        try:
            env.execute()
        except Exception:
            print(name, "fails")


if __name__ == "__main__":
    main()

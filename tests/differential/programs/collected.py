"""What execute_and_collect gives back, as Python values."""

# runs: whole 1
import datetime
import decimal

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

VALUES = {
    "undeclared": (None, [1, "a", (1, 2), [3], {"k": 1}, None, 1.5, Row(1, "x")]),
    "string": (Types.STRING(), ["a", ""]),
    "int": (Types.INT(), [1, -1]),
    "float": (Types.FLOAT(), [0.1, 2.5]),
    "double": (Types.DOUBLE(), [0.1]),
    "big dec": (Types.BIG_DEC(), [decimal.Decimal("1.50")]),
    "date": (Types.SQL_DATE(), [datetime.date(2024, 2, 29)]),
    "time": (Types.SQL_TIME(), [datetime.time(1, 2, 3)]),
    "timestamp": (Types.SQL_TIMESTAMP(), [datetime.datetime(2024, 2, 29, 12, 30, 15, 123000)]),
    "list": (Types.LIST(Types.INT()), [[1, 2]]),
    "map": (Types.MAP(Types.STRING(), Types.INT()), [{"a": 1}]),
    "ints": (Types.PRIMITIVE_ARRAY(Types.INT()), [[1, 2]]),
    "strings": (Types.BASIC_ARRAY(Types.STRING()), [["a"]]),
    "tuple": (Types.TUPLE([Types.STRING(), Types.INT()]), [("a", 1)]),
    "row": (Types.ROW([Types.STRING(), Types.INT()]), [Row("a", 1)]),
    "named row": (Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()]), [Row("a", 1)]),
    "nested": (
        Types.TUPLE([Types.ROW([Types.INT()]), Types.LIST(Types.STRING())]),
        [(Row(1), ["x"])],
    ),
}


def main():
    for name, (type_info, values) in VALUES.items():
        env = StreamExecutionEnvironment.get_execution_environment()
        try:
            with env.from_collection(values, type_info).execute_and_collect() as results:
                for value in results:
                    print(name, repr(value), type(value).__name__)
        except Exception as error:
            print(
                name, "fails", type(error).__name__ if type(error).__module__ == "builtins" else ""
            )


if __name__ == "__main__":
    main()

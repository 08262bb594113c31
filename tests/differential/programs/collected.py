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

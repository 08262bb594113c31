"""How values of each declared type print."""

import datetime
import decimal

from pyflink.common import Instant, Row, Types
from pyflink.datastream import StreamExecutionEnvironment

VALUES = {
    "string": (Types.STRING(), ["", "text", "with 'quotes'", "Grüße", "a,b"]),
    "boolean": (Types.BOOLEAN(), [True, False]),
    "byte": (Types.BYTE(), [-128, 0, 127]),
    "short": (Types.SHORT(), [-32768, 32767]),
    "int": (Types.INT(), [-2147483648, 0, 2147483647]),
    "long": (Types.LONG(), [-(2**63), 2**63 - 1]),
    "float": (Types.FLOAT(), [0.1, 1.0, -2.5, 1e10, 1.0e-5, 3.4e38, 123456.789]),
    "double": (Types.DOUBLE(), [0.1, 1.0, 1e7, 12345678.9, 1e-3, 1e-4, 1e300, 1 / 3, -0.0, 100.0]),
    "big dec": (
        Types.BIG_DEC(),
        [decimal.Decimal("1.50"), decimal.Decimal("-0.001"), decimal.Decimal("1E+3")],
    ),
    "date": (Types.SQL_DATE(), [datetime.date(2024, 2, 29), datetime.date(1969, 12, 31)]),
    "time": (Types.SQL_TIME(), [datetime.time(1, 2, 3), datetime.time(23, 59, 59)]),
    "timestamp": (
        Types.SQL_TIMESTAMP(),
        [
            datetime.datetime(2024, 2, 29, 12, 30, 15, 123000),
            datetime.datetime(2000, 1, 1),
        ],
    ),
    "instant": (
        Types.INSTANT(),
        [Instant.of_epoch_milli(0), Instant.of_epoch_milli(1718000000123)],
    ),
    "map": (Types.MAP(Types.STRING(), Types.INT()), [{}, {"a": 1}]),
    "tuple": (Types.TUPLE([Types.STRING(), Types.INT()]), [("a", 1), ("", -1)]),
    "row": (Types.ROW([Types.STRING(), Types.INT()]), [Row("a", 1), ("b", 2)]),
    "named row": (
        Types.ROW_NAMED(["name", "number"], [Types.STRING(), Types.INT()]),
        [Row("a", 1), Row(name="b", number=2)],
    ),
    "nested": (
        Types.TUPLE(
            [
                Types.TUPLE([Types.INT(), Types.STRING()]),
                Types.ROW([Types.DOUBLE()]),
            ]
        ),
        [((1, "x"), Row(2.5))],
    ),
}


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    for name, (type_info, values) in VALUES.items():
        env.from_collection(values, type_info).print(name)
    env.execute()


if __name__ == "__main__":
    main()

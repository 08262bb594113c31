"""How values of each declared type print that a function has made."""

import datetime
import decimal

from pyflink.common import Instant, Row, Types
from pyflink.datastream import StreamExecutionEnvironment

VALUES = {
    "string": (Types.STRING(), ["", "text"]),
    "boolean": (Types.BOOLEAN(), [True, False]),
    "byte": (Types.BYTE(), [-128, 127]),
    "int": (Types.INT(), [-2147483648, 2147483647]),
    "long": (Types.LONG(), [-(2**63), 2**63 - 1]),
    "float": (Types.FLOAT(), [0.1, 1.0, 1e10, 1.0e-5]),
    "double": (Types.DOUBLE(), [0.1, 1e7, 1e-4, 1 / 3]),
    "big dec": (Types.BIG_DEC(), [decimal.Decimal("1.50")]),
    "date": (Types.SQL_DATE(), [datetime.date(2024, 2, 29)]),
    "time": (Types.SQL_TIME(), [datetime.time(1, 2, 3)]),
    "timestamp": (Types.SQL_TIMESTAMP(), [datetime.datetime(2024, 2, 29, 12, 30, 15, 123000)]),
    "instant": (Types.INSTANT(), [Instant.of_epoch_milli(1718000000123)]),
    "list": (Types.LIST(Types.INT()), [[], [1, 2, 3]]),
    "map": (Types.MAP(Types.STRING(), Types.INT()), [{}, {"a": 1}]),
    "tuple": (Types.TUPLE([Types.STRING(), Types.INT()]), [("a", 1)]),
    "row": (Types.ROW([Types.STRING(), Types.INT()]), [Row("a", 1)]),
    "named row": (
        Types.ROW_NAMED(["name", "number"], [Types.STRING(), Types.INT()]),
        [Row(name="b", number=2)],
    ),
    "nested": (
        Types.TUPLE(
            [
                Types.TUPLE([Types.INT(), Types.STRING()]),
                Types.LIST(Types.STRING()),
                Types.ROW([Types.DOUBLE()]),
            ]
        ),
        [((1, "x"), ["p", "q"], Row(2.5))],
    ),
}


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    for name, (type_info, values) in VALUES.items():
        chosen = values
        numbers = env.from_collection(list(range(len(values))), Types.INT())
        numbers.map(lambda n, chosen=chosen: chosen[n], type_info).print(name)
    env.execute()


if __name__ == "__main__":
    main()

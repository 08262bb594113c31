"""How values print whose type was not declared."""

import datetime
import decimal

from pyflink.common import Row, RowKind
from pyflink.datastream import StreamExecutionEnvironment

VALUES = [
    "text",
    "it's",
    1,
    -5,
    2**70,
    0.1,
    1e300,
    1e-7,
    True,
    None,
    (1, "a"),
    ("a",),
    (),
    [1, "b"],
    {"k": 1},
    decimal.Decimal("1.50"),
    datetime.date(2024, 2, 29),
    datetime.time(1, 2, 3),
    datetime.datetime(2024, 1, 2, 3, 4, 5),
    Row(1, "a"),
    Row(x=1, y="a"),
    Row(None, 2.5),
    Row.of_kind(RowKind.DELETE, 1),
    ((1, 2), [3, (4,)]),
    frozenset([1]),
    1 + 2j,
    float("inf"),
    float("nan"),
]


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection(VALUES).map(lambda v: v).print("mapped")
    env.from_collection(VALUES).filter(lambda v: True).map(lambda v: (v,)).print("in a tuple")
    env.execute()


if __name__ == "__main__":
    main()

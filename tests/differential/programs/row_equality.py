"""Rows with and without names and their types compared."""

# runs: whole 1
from pyflink.common import Row, Types


def main():
    print(Row(1, 2) == Row(a=1, b=2), Row(a=1, b=2) == Row(b=2, a=1), Row(a=1) == Row(b=1))
    print(Types.ROW([Types.INT()]) == Types.ROW_NAMED(["x"], [Types.INT()]))


if __name__ == "__main__":
    main()

"""Type information: its text, equality and fields."""

# runs: whole 1
# order: all
from pyflink.common import Types
from pyflink.common.typeinfo import RowTypeInfo, TupleTypeInfo

TYPES = [
    Types.STRING(),
    Types.BOOLEAN(),
    Types.BYTE(),
    Types.SHORT(),
    Types.INT(),
    Types.LONG(),
    Types.FLOAT(),
    Types.DOUBLE(),
    Types.CHAR(),
    Types.BIG_INT(),
    Types.BIG_DEC(),
    Types.INSTANT(),
    Types.SQL_DATE(),
    Types.SQL_TIME(),
    Types.SQL_TIMESTAMP(),
    Types.PICKLED_BYTE_ARRAY(),
    Types.LIST(Types.INT()),
    Types.MAP(Types.STRING(), Types.INT()),
    Types.PRIMITIVE_ARRAY(Types.INT()),
    Types.BASIC_ARRAY(Types.STRING()),
    Types.OBJECT_ARRAY(Types.STRING()),
    Types.TUPLE([Types.INT(), Types.STRING()]),
    Types.ROW([Types.INT(), Types.STRING()]),
    Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]),
]


def main():
    for each in TYPES:
        print(each)
    print(
        Types.INT() == Types.INT(),
        Types.INT() == Types.LONG(),
        Types.TUPLE([Types.INT()]) == Types.TUPLE([Types.INT()]),
    )
    print(Types.LIST(Types.INT()) == Types.LIST(Types.INT()))
    row = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    print(
        row.get_field_names(),
        [str(each) for each in row.get_field_types()],
        row.get_field_index("b"),
    )
    print(Types.ROW([Types.INT(), Types.INT()]).get_field_names())
    print([str(each) for each in Types.TUPLE([Types.INT(), Types.STRING()]).get_field_types()])
    print(isinstance(row, RowTypeInfo), isinstance(Types.TUPLE([Types.INT()]), TupleTypeInfo))


if __name__ == "__main__":
    main()

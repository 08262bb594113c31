"""Rows: names, kinds, and what survives a declared type."""

from pyflink.common import Row, RowKind, Types
from pyflink.datastream import StreamExecutionEnvironment


def main():
    row = Row(name="Ada", born=1815)
    print(row, row["name"], row.born, row.as_dict(), len(row), list(row))
    Person = Row("name", "age")
    print(Person, Person("Bob", 3), Person("Bob", 3).as_dict())
    print(Row(1, 2) == Row(1, 2), Row(1) == Row(2), "born" in row, 1815 in row)
    deleted = Row.of_kind(RowKind.DELETE, "x", 1)
    print(deleted, deleted.get_row_kind(), str(deleted), repr(deleted))
    changed = Row(1, 2)
    changed.set_row_kind(RowKind.UPDATE_AFTER)
    changed.set_field_names(["p", "q"])
    print(changed, changed["q"], changed.get_row_kind().name)
    changed["p"] = 5
    print(changed, sorted([Row(2), Row(1)], key=lambda r: r[0]), hash(Row(1)) == hash(Row(1)))

    env = StreamExecutionEnvironment.get_execution_environment()
    named = Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()])
    rows = [Row.of_kind(kind, f"r{kind.value}", kind.value) for kind in RowKind]
    env.from_collection(rows, named).print("declared")
    env.from_collection(rows, named).map(lambda r: r).print("undeclared")
    env.from_collection(rows, named).map(lambda r: r, named).print("mapped")
    env.from_collection(rows, named).map(lambda r: r.get_row_kind().name, Types.STRING()).print(
        "kind"
    )
    env.from_collection(rows, named).map(lambda r: (r.name, r["n"], r[0])).print("fields")
    env.from_collection(rows, named).map(lambda r: sorted(r.as_dict().items())).print("dict")
    env.from_collection(rows, named).key_by(lambda r: r.name).map(
        lambda r: Row(r.n, r.name), Types.ROW([Types.INT(), Types.STRING()])
    ).print("keyed")
    env.execute()


if __name__ == "__main__":
    main()

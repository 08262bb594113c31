"""JSON and CSV that only one side takes, or that it takes for something else"""

# runs: whole 1
# order: all
from pyflink.common import Types
from pyflink.datastream.formats.csv import CsvRowDeserializationSchema
from pyflink.datastream.formats.json import JsonRowDeserializationSchema

JSON = [
    (Types.INT(), "1.5"),
    (Types.BOOLEAN(), '"x"'),
    (Types.BOOLEAN(), "1"),
    (Types.PRIMITIVE_ARRAY(Types.INT()), "[null]"),
    (Types.BIG_INT(), "1e3"),
    (Types.SQL_TIME(), '"12:34:56"'),
    (Types.SQL_TIMESTAMP(), '"2021-02-03T04:05:06"'),
    (Types.INT(), '1} {"a":2'),
    (Types.STRING(), '"\\ud800"'),
]
CSV = [
    (Types.INT(), ""),
    (Types.BOOLEAN(), ""),
    (Types.LIST(Types.INT()), "1;2"),
    (Types.SQL_DATE(), "2021-2-3"),
    (Types.INSTANT(), "2021-02-03T04:05:06Z"),
]


def taken(make, text):
    try:
        schema = make()
        java = getattr(schema, "_j_deserialization_schema", None)
        if java is None:
            schema.deserialize(text)
        else:
            java.open(None)
            java.deserialize(text)
    except Exception:
        return "fails"
    return "taken"


def main():
    for field, text in JSON:
        kind = Types.ROW_NAMED(["a"], [field])
        builder = JsonRowDeserializationSchema.builder().type_info(kind)
        print("JSON", field, text, taken(builder.build, f'{{"a":{text}}}'.encode()))
    for field, text in CSV:
        kind = Types.ROW_NAMED(["a", "z"], [field, Types.STRING()])
        builder = CsvRowDeserializationSchema.Builder(kind)
        print("CSV", field, text, taken(builder.build, f"{text},z".encode()))


if __name__ == "__main__":
    main()

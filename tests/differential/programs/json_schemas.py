"""JSON as rows and back: every type, what ignoring errors and missing fields do; no broker"""

# runs: whole 1
# order: all
from pyflink.common import Types
from pyflink.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)

ROW = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])
FIELDS = [
    (Types.STRING(), ['"a"', '""', "1", "1.50", "true", "null", '{"a": [1]}', "1e5"]),
    (Types.BOOLEAN(), ["true", "false", '"true"', '"FALSE"', "null"]),
    (Types.BYTE(), ["1", "-128", "128", '"7"', "1.5", "true"]),
    (Types.SHORT(), ["32767", "32768", '"7"']),
    (Types.INT(), ["2147483647", "2147483648", '" 7 "', '"x"', "1.0", "1e3", "true", '""', "[]"]),
    (Types.LONG(), ["9223372036854775807", "9223372036854775808", '"7"']),
    (Types.FLOAT(), ["1", "0.1", '"0.1"', '"x"', "1e40", "1e-50", "3.4028235e38"]),
    (Types.DOUBLE(), ["1", "0.1", '"NaN"', "1e400", "12345678901234567890", "1e7", "0.0001"]),
    (Types.BIG_INT(), ["1" * 30, '"7"', "1.5"]),
    (Types.BIG_DEC(), ["1", "1.50", '"1.50"', "1." + "1" * 40, "1e3", "1E-10", '"x"']),
    (Types.SQL_DATE(), ['"2021-02-03"', '"2021-2-3"', "18661", '"0001-01-01"']),
    (Types.SQL_TIME(), ['"12:34:56Z"', '"12:34:56+02:00"', '"x"']),
    (Types.SQL_TIMESTAMP(), ['"2021-02-03T04:05:06Z"', '"2021-02-03T04:05:06.100Z"', '"x"', "1"]),
    (Types.INSTANT(), ['"2021-02-03T04:05:06.5Z"', "1612325106"]),
    (Types.CHAR(), ['"a"', '"ab"']),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), ['"YWI="', '""', '"x"', "null"]),
    (Types.PRIMITIVE_ARRAY(Types.INT()), ["[1,2]", "[]", '"x"']),
    (Types.BASIC_ARRAY(Types.INT()), ["[1,null]", '["1"]', "null", "1", '[1,"x"]']),
    (Types.BASIC_ARRAY(Types.STRING()), ['["a",null,1,[2]]']),
    (Types.OBJECT_ARRAY(ROW), ['[{"x":1},null,{}]', '[{"x":"x"}]']),
    (Types.LIST(Types.INT()), ["[1,2]"]),
    (Types.MAP(Types.STRING(), Types.INT()), ['{"a":1}', '{"a":null}', "{}", '{"a":"2"}']),
    (Types.MAP(Types.INT(), Types.STRING()), ['{"1":"x"}']),
    (ROW, ['{"x":1,"y":"b","z":1}', '{"x":1}', "null", '[1,"b"]', "1", '{"x":"x","y":"b"}']),
    (Types.TUPLE([Types.INT(), Types.STRING()]), ['{"f0":1,"f1":"b"}']),
]
RECORDS = [
    '{"y":"b","x":1}',
    '{"x":1}',
    "{}",
    "[]",
    "1",
    "null",
    "",
    '{"x":1,"x":2}',
    "{x:1}",
    '{"x":NaN}',
    '{"x":1,}',
    '{"X":1}',
    '{"x":01}',
    '{"z":1e999}',
    '{"y":"grün \\u00fc \\" \\\\ / \\n \\u0001"}',
    '{"y":"a\tb"}',
    '\ufeff{"x":1}',
]


def read(schema, data):
    """By hand: a schema is Java's there, and a source's to call."""
    java = getattr(schema, "_j_deserialization_schema", None)
    if java is None:
        return schema.deserialize(data)
    java.open(None)
    return java.deserialize(data)


def write(schema, row):
    java = getattr(schema, "_j_serialization_schema", None)
    if java is None:
        return schema.serialize(row)
    java.open(None)
    return bytes(java.serialize(row))


def tried(kind, text, *options):
    builder = JsonRowDeserializationSchema.builder().type_info(kind)
    for option in options:
        getattr(builder, option)()
    try:
        row = read(builder.build(), text)
    except Exception:
        return "fails"
    if row is None:
        return "nothing"
    schema = JsonRowSerializationSchema.builder().with_type_info(kind).build()
    return write(schema, row).decode()


def main():
    for field, texts in FIELDS:
        kind = Types.ROW_NAMED(["a"], [field])
        for text in texts:
            data = f'{{"a":{text}}}'.encode()
            print(field, text, tried(kind, data), tried(kind, data, "ignore_parse_errors"))
    for text in RECORDS:
        found = [
            tried(ROW, text.encode(), *options)
            for options in ((), ["fail_on_missing_field"], ["ignore_parse_errors"])
        ]
        print(repr(text), *found)
    nested = Types.ROW_NAMED(["r"], [ROW])
    for text in (b'{"r":{"x":1}}', b'{"r":null}'):
        print(text, tried(nested, text), tried(nested, text, "fail_on_missing_field"))
    print(tried(ROW, b"{}", "fail_on_missing_field", "ignore_parse_errors"))
    print(tried(Types.ROW([Types.INT()]), b'{"f0":1}'))


if __name__ == "__main__":
    main()

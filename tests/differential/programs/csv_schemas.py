"""CSV as rows and back: every type, quotes, escapes, nulls, what ignoring errors does; no broker"""

# runs: whole 1
# order: all
from pyflink.common import Types
from pyflink.datastream.formats.csv import (
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
)

PAIR = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])
FIELDS = [
    (Types.STRING(), ["a", "", " a ", '"a,b"', '"a""b"', 'a"b', "null", '""', '"', '"a"x', "é"]),
    (Types.BOOLEAN(), ["true", "FALSE", " true ", "x", "1"]),
    (Types.BYTE(), ["1", "128", " 7 ", "1.5"]),
    (Types.INT(), ["1", " 7 ", "2147483648", '"7"', "x", "1.0", "1_0", "+5"]),
    (Types.LONG(), ["9223372036854775808", "1.5"]),
    (Types.FLOAT(), ["1", "0.1", "x", "NaN", "Infinity", "1e40"]),
    (Types.DOUBLE(), ["1", "0.1", "-Infinity", "1e7", "0.0001", "1e400"]),
    (Types.BIG_INT(), ["1" * 30, "1.5", " 7 "]),
    (Types.BIG_DEC(), ["1.50", "1." + "1" * 40, "1e3", "x", "NaN"]),
    (Types.SQL_DATE(), ["2021-02-03", "x"]),
    (Types.SQL_TIME(), ["12:34:56", "x"]),
    (Types.SQL_TIMESTAMP(), ["2021-02-03 04:05:06", "2021-02-03 04:05:06.789", "x"]),
    (Types.INSTANT(), ["2021-02-03 04:05:06Z", "2021-02-03 04:05:06.5Z", "2021-02-03 04:05:06"]),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), ["YWI=", "", "x"]),
    (Types.BASIC_ARRAY(Types.INT()), ["1;2", "1", "", "1; 2", "1;x"]),
    (Types.BASIC_ARRAY(Types.STRING()), ["a;b", '"a;b"', ";", "a;"]),
    (Types.OBJECT_ARRAY(Types.INT()), ["1;2"]),
    (PAIR, ["1;b", "1", "1;b;c", "", "x;b"]),
]
RECORDS = [
    "1,a",
    "1,a\r\n",
    "1",
    "1,a,2",
    "",
    "#1,a",
    "1,a\n2,b",
    '1,"a\nb"',
    '1,"it\'s"',
    "1,'a,b'",
    "1,a\\,b",
    '1,a\\"b',
    '1,"a\\\\b"',
    "n/a,n/a",
    '1,"n/a"',
    "1,",
    "1|a",
    "\ufeff1,a",
    '1,"abcdefghijklmnopqrstuvwxyz"',
    '1,"-"',
    '1,"a\tb"',
]
WAYS_TO_READ = {
    "plain": {},
    "ignoring": {"set_ignore_parse_errors": True},
    "null": {"set_null_literal": "n/a"},
    "escape": {"set_escape_character": "\\"},
    "quote": {"set_quote_character": "'"},
    "bar": {"set_field_delimiter": "|"},
}
WAYS_TO_WRITE = {
    "plain": {},
    "escape": {"set_escape_character": "\\"},
    "quote": {"set_quote_character": "'"},
    "line": {"set_line_delimiter": "\r\n"},
    "null": {"set_null_literal": "n/a"},
    "others": {"set_field_delimiter": ";", "set_array_element_delimiter": "|"},
    "tab": {"set_field_delimiter": "\t"},
}


def built(builder, options):
    for name, value in options.items():
        getattr(builder, name)(value)
    return builder


def read(kind, data, options):
    """By hand: a schema is Java's there, and a source's to call."""
    schema = built(CsvRowDeserializationSchema.Builder(kind), options).build()
    java = getattr(schema, "_j_deserialization_schema", None)
    if java is None:
        return schema.deserialize(data)
    java.open(None)
    return java.deserialize(data)


def write(builder, row):
    schema = builder.build()
    java = getattr(schema, "_j_serialization_schema", None)
    if java is None:
        return schema.serialize(row).decode()
    java.open(None)
    return bytes(java.serialize(row)).decode()


def tried(kind, text, options):
    try:
        row = read(kind, text.encode(), options)
    except Exception:
        return ["fails"]
    if row is None:
        return ["nothing"]
    builder = CsvRowSerializationSchema.Builder
    found = [write(built(builder(kind), ways), row) for ways in WAYS_TO_WRITE.values()]
    return [*found, write(builder(kind).disable_quote_character(), row)]


def main():
    for field, cells in FIELDS:
        kind = Types.ROW_NAMED(["a", "z"], [field, Types.STRING()])
        for cell in cells:
            for way in ("plain", "ignoring"):
                print(field, repr(cell), way, tried(kind, cell + ",z", WAYS_TO_READ[way]))
    for text in RECORDS:
        for way, options in WAYS_TO_READ.items():
            if not text.endswith(",") or way == "ignoring":
                print(repr(text), way, tried(PAIR, text, options))


if __name__ == "__main__":
    main()

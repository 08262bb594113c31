"""CSV files, read with a schema."""

# runs: whole 1
import tempfile
from pathlib import Path

from pyflink.common import WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource
from pyflink.datastream.formats.csv import CsvReaderFormat, CsvSchema
from pyflink.table import DataTypes

SCHEMAS = {
    "plain": (
        lambda: (
            CsvSchema.builder()
            .add_string_column("name")
            .add_number_column("n", number_type=DataTypes.INT())
            .add_number_column("x", number_type=DataTypes.DOUBLE())
            .add_boolean_column("b")
            .build()
        ),
        "Ann,1,0.5,true\nBob,-2,1e3,false\n",
    ),
    "header and separator": (
        lambda: (
            CsvSchema.builder()
            .add_string_column("name")
            .add_number_column("n", number_type=DataTypes.BIGINT())
            .set_use_header()
            .set_column_separator(";")
            .build()
        ),
        'name;n\n"a;b";9000000000\n"say ""hi""";0\n',
    ),
    "array": (
        lambda: (
            CsvSchema.builder()
            .add_array_column("xs", separator="#", element_type=DataTypes.INT())
            .add_string_column("s")
            .build()
        ),
        "1#2#3,x\n7,y\n",
    ),
    "null": (
        lambda: (
            CsvSchema.builder()
            .add_string_column("name")
            .add_string_column("other")
            .set_null_value("-")
            .build()
        ),
        "a,-\n-,b\n",
    ),
}


def main():
    for name, (schema, text) in SCHEMAS.items():
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "in.csv").write_text(text)
            env = StreamExecutionEnvironment.get_execution_environment()
            source = FileSource.for_record_stream_format(
                CsvReaderFormat.for_schema(schema()), f"file://{folder}"
            ).build()
            rows = env.from_source(source, WatermarkStrategy.no_watermarks(), "csv")
            if name != "array":  # PyFlink prints where it is in memory
                rows.print(name)
            rows.map(lambda row: (row[0], row[1])).print(name + " in Python")
            env.execute()


if __name__ == "__main__":
    main()

"""Text files: read line by line, written row by row."""

# runs: whole 1
import tempfile
from pathlib import Path

from pyflink.common import Encoder, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import (
    FileSink,
    FileSource,
    OutputFileConfig,
    StreamFormat,
)


def main():
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in")
        source.mkdir()
        (source / "a.txt").write_text("one two\n\nthree\r\nGrüße")
        (source / "b.txt").write_text("four\n")
        target = Path(folder, "out")
        env = StreamExecutionEnvironment.get_execution_environment()
        lines = env.from_source(
            FileSource.for_record_stream_format(
                StreamFormat.text_line_format(), f"file://{source}"
            ).build(),
            WatermarkStrategy.no_watermarks(),
            "lines",
        )
        lines.print("line")
        sink = (
            FileSink.for_row_format(f"file://{target}", Encoder.simple_string_encoder())
            .with_output_file_config(
                OutputFileConfig.builder().with_part_prefix("part").with_part_suffix(".txt").build()
            )
            .build()
        )
        lines.map(
            lambda line: (line, len(line)), Types.TUPLE([Types.STRING(), Types.INT()])
        ).sink_to(sink)
        env.execute()
        written = sorted(target.rglob("part*"))
        print(bool(written), all(path.suffix == ".txt" for path in written))
        print(sorted(line for path in written for line in path.read_text().splitlines()))


if __name__ == "__main__":
    main()

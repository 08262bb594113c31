"""Files to files, to their end, without any other system."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headrace.connectors.files.staging import DONE, HIDDEN
from headrace.wire import events
from tests.driving import DrivenJob

PROGRAM = """
import sys

from headrace.common import Encoder
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import FileSink

env = StreamExecutionEnvironment.get_execution_environment()
lines = env.read_text_file(sys.argv[1])
encoder = Encoder.simple_string_encoder()
lines.map(str.upper).sink_to(FileSink.for_row_format(sys.argv[2] + "/upper", encoder).build())
lines.sink_to(FileSink.for_row_format(sys.argv[2] + "/same", encoder).build())
env.execute("copy")
"""


def test_all_lines_are_in_files_when_the_job_has_ended(
    drive: Callable[..., DrivenJob], tmp_path: Path
) -> None:
    lines = [f"line {number}" for number in range(500)]
    (tmp_path / "in.txt").write_text("\n".join(lines))
    job = drive(PROGRAM, str(tmp_path / "in.txt"), str(tmp_path / "out"))

    assert job.run() == 0, job.log()

    assert job.events()[-1] == events.Stopped("finished")
    assert written(tmp_path / "out/same") == sorted(lines)
    assert written(tmp_path / "out/upper") == sorted(line.upper() for line in lines)
    hidden = list((tmp_path / "out").glob(f"*/{HIDDEN}/*/*-*"))
    assert hidden
    assert all(path.name.endswith(DONE) for path in hidden)


def written(base: Path) -> list[str]:
    parts = [path for path in base.rglob("part-*") if HIDDEN not in path.parts]
    return sorted(line for path in parts for line in path.read_text().splitlines())

"""Files with a JSON object a line. Headrace's own."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from headrace.common.serialization import DeserializationError
from headrace.common.typeinfo import TypeInformation
from headrace.common.types import Row
from headrace.datastream.connectors.file_source import StreamFormat, open_binary
from headrace.datastream.formats.csv_rows import row_type
from headrace.datastream.formats.json import JsonRowDeserializationSchema


class JsonLinesFormat(StreamFormat):
    """Rows of a declared type (Types.ROW_NAMED, a dataclass, DataTypes.ROW). Empty lines, and null,
    are left out. A line that does not fit fails the job, naming file and line."""

    def __init__(self, type_info: Any, fail_on_missing_field: bool = False) -> None:
        self._type = row_type(type_info)
        self._schema = JsonRowDeserializationSchema(self._type, fail_on_missing_field, False)

    @property
    def produced_type(self) -> TypeInformation:  # type: ignore[override]
        return self._type

    def read(self, path: str) -> Iterator[Row]:
        with open_binary(path) as file:
            for number, line in enumerate(io.BufferedReader(file), 1):  # type: ignore[type-var]
                row = self._row(line, f"{path}, line {number}") if line.strip() else None
                if row is not None:
                    yield row

    def _row(self, line: bytes, where: str) -> Row | None:
        try:
            return self._schema.deserialize(line)
        except DeserializationError as error:
            raise ValueError(f"{where}: {error}") from error

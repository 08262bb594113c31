"""Text that sinks write of values of declared types: as PyFlink's, which is Java's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.common.serialization import SerializationSchema, SimpleStringSchema
from headrace.common.type_base import TypeInformation
from headrace.connectors.files.formats import RowFormat
from headrace.connectors.files.sink import FilesSink


@dataclass(frozen=True)
class TypedText(SerializationSchema):
    """The text of a value of the type, in the schema's character set."""

    schema: SimpleStringSchema
    type_info: TypeInformation

    def serialize(self, value: Any) -> bytes | None:
        return self.schema.serialize(self.type_info.format(value))


def in_text(sink: Any, type_info: TypeInformation | None) -> Any:
    """The sink for a stream of this type: one of lines of text writes them as `print` shows
    them."""
    lines = sink.format if isinstance(sink, FilesSink) else None
    if type_info is None or not isinstance(lines, RowFormat):
        return sink
    if not isinstance(lines.encoder, SimpleStringSchema):
        return sink
    return sink.with_format(RowFormat(TypedText(lines.encoder, type_info), lines.suffix))

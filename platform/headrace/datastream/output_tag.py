"""Names of side outputs; PyFlink's `pyflink.datastream.output_tag`."""

from __future__ import annotations

from headrace.common.type_hints import type_of
from headrace.common.typeinfo import TypeInformation


class OutputTag:
    """A side output: a process function sends to it by `yield tag, value`."""

    __slots__ = ("tag_id", "type_info")

    def __init__(self, tag_id: str, type_info: TypeInformation | None = None) -> None:
        if not tag_id:
            raise ValueError("an OutputTag needs a name")
        self.tag_id = tag_id
        self.type_info = type_of(type_info)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OutputTag) and other.tag_id == self.tag_id

    def __hash__(self) -> int:
        return hash(self.tag_id)

    def __repr__(self) -> str:
        return f"OutputTag({self.tag_id!r})"

"""The declared type that a JSON schema describes, as Flink reads it."""

from __future__ import annotations

import json
from typing import Any

from headrace.common.typeinfo import TypeInformation, Types

_TEXT = {
    "date-time": Types.SQL_TIMESTAMP(),
    "date": Types.SQL_DATE(),
    "time": Types.SQL_TIME(),
}


def type_of_schema(text: str) -> TypeInformation:
    """Numbers are BIG_DEC, whole ones too. Raises ValueError for what has no type here."""
    schema = json.loads(text)
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise ValueError("the JSON schema does not describe an object")
    return _Schema(schema).type(schema, "$")


class _Schema:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root

    def type(self, schema: dict[str, Any], where: str) -> TypeInformation:
        if "$ref" in schema:
            return self.type(self._referred(schema["$ref"], where), where)
        choices = [each for each in schema.get("oneOf", ()) if each.get("type") != "null"]
        if len(choices) == 1:
            return self.type(choices[0], where)
        match _kind(schema, where):
            case "string" if schema.get("contentEncoding") == "base64":
                return Types.PRIMITIVE_ARRAY(Types.BYTE())
            case "string":
                return _TEXT.get(schema.get("format", ""), Types.STRING())
            case "boolean":
                return Types.BOOLEAN()
            case "number" | "integer":
                return Types.BIG_DEC()
            case "array":
                return self._array(schema.get("items", {}), where)
            case "object":
                fields = schema.get("properties", {})
                kinds = [self.type(each, f"{where}.{name}") for name, each in fields.items()]
                return Types.ROW_NAMED(list(fields), kinds)
            case other:
                raise ValueError(f"{where} of the JSON schema has the type {other!r}: it is none")

    def _array(self, items: Any, where: str) -> TypeInformation:
        if isinstance(items, list):  # a type for each place
            return Types.ROW([self.type(each, f"{where}[{at}]") for at, each in enumerate(items)])
        return Types.OBJECT_ARRAY(self.type(items, f"{where}[]"))

    def _referred(self, to: str, where: str) -> dict[str, Any]:
        found: Any = self._root
        for name in to.removeprefix("#/").split("/"):
            found = found.get(name) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            raise ValueError(f"{where} of the JSON schema refers to {to!r}, which is not there")
        return found


def _kind(schema: dict[str, Any], where: str) -> str:
    kinds = schema.get("type")
    named = [kinds] if isinstance(kinds, str) else list(kinds or ())
    present: list[str] = [kind for kind in named if kind != "null"]
    if len(present) != 1:
        raise ValueError(f"{where} of the JSON schema has the types {named}: one is needed")
    return present[0]

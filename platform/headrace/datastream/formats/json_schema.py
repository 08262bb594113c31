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
    """Numbers are BIG_DEC, whole ones BIG_INT. Raises ValueError for what has no type here."""
    schema = json.loads(text)
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise ValueError("the JSON schema does not describe an object")
    return _type(schema, "$")


def _type(schema: dict[str, Any], where: str) -> TypeInformation:
    kinds = schema.get("type")
    named = [kinds] if isinstance(kinds, str) else list(kinds or ())
    present = [kind for kind in named if kind != "null"]
    if len(present) != 1:
        raise ValueError(f"{where} of the JSON schema has the types {named}: one is needed")
    match present[0]:
        case "string":
            return _TEXT.get(schema.get("format", ""), Types.STRING())
        case "boolean":
            return Types.BOOLEAN()
        case "number":
            return Types.BIG_DEC()
        case "integer":
            return Types.BIG_INT()
        case "array":
            return Types.OBJECT_ARRAY(_type(schema.get("items", {}), f"{where}[]"))
        case "object":
            fields = schema.get("properties", {})
            kinds = [_type(each, f"{where}.{name}") for name, each in fields.items()]
            return Types.ROW_NAMED(list(fields), kinds)
    raise ValueError(f"{where} of the JSON schema has the type {present[0]!r}, which is none")

"""What requests say: bodies and query parameters, checked, with Flink's words for what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from django.conf import settings
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

#: Flink's `Integer.MAX_VALUE`.
MOST = 2_147_483_647
#: Names in one `get=`: more than any vertex has metrics.
NAMES = 10_000
#: Ids in one list: what databases take as parameters.
IDS = 1_000


class TooLarge(APIException):
    status_code = 413
    default_detail = "The request is larger than this server takes."


class JsonBody(BaseParser):
    """A JSON object, whatever the request calls its content; nothing at all is {}."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        content = stream.read(limit + 1)
        if len(content) > limit:
            raise TooLarge
        if not content.strip():
            return {}
        try:
            values = json.loads(content)
            text = json.dumps(values, ensure_ascii=False)
            text.encode()  # no half of a surrogate pair: no database takes it
        except (ValueError, RecursionError) as error:
            raise ParseError(f"Request did not match expected format: {error}") from None
        if not isinstance(values, dict) or "\\u0000" in text:
            raise ParseError("Request did not match expected format: give a JSON object of text")
        return values


def unreadable(what: str) -> ParseError:
    """As Flink tells it of a path or query parameter."""
    prefix = "org.apache.flink.runtime.rest.handler.RestHandlerException: Bad request, "
    return ParseError(f"{prefix}could not parse parameters: Cannot resolve {what}.")


def body(request: Request) -> Mapping[str, Any]:
    """Raises ParseError. Fields that nobody knows are no error."""
    values = request.data
    return values if isinstance(values, dict) else {}


def flag(values: Mapping[str, Any], *names: str) -> bool:
    """The first of the names that is there. Raises ParseError."""
    value = next((values[name] for name in names if values.get(name) is not None), False)
    if not isinstance(value, bool):
        raise ParseError(f"{names[0]} is true or false")
    return value


def text(values: Mapping[str, Any], *names: str) -> str:
    """The first of the names that is there; "" for none. Raises ParseError."""
    value = next((values[name] for name in names if values.get(name) is not None), "")
    if not isinstance(value, str):
        raise ParseError(f"{names[0]} is text")
    return value


def parameter(request: Request, name: str) -> str:
    """Of the query; the last one counts, "" is none."""
    return str(request.query_params.get(name, "")).replace("\x00", "")


def number(request: Request, name: str, default: int, least: int = 0) -> int:
    """Raises ParseError for what is no whole number from `least` to Flink's largest."""
    said = parameter(request, name)
    if not said:
        return default
    if not re.fullmatch(r"-?[0-9]{1,10}", said):
        raise unreadable(f'query parameter ({name}) from value "{said[:100]}"')
    if not least <= int(said) <= MOST:
        raise unreadable(f'query parameter ({name}) from value "{said}"')
    return int(said)


def choice(request: Request, name: str, known: Collection[str], default: str) -> str:
    """Whatever its case. Raises ParseError."""
    said = parameter(request, name)
    found = said.lower() or default
    if found not in known:
        raise unreadable(f'query parameter ({name}) from value "{said[:100]}"')
    return found


def truth(request: Request, name: str) -> bool:
    return choice(request, name, ("true", "false"), "false") == "true"


def names(request: Request, name: str) -> list[str]:
    """Of a list with commas, in its order, each once; also when it is given several times."""
    values = (value.replace("\x00", "") for value in request.query_params.getlist(name))
    said = (part for value in values for part in value.split(","))
    return list(dict.fromkeys(part for part in said if part))[:NAMES]

"""What a request to run or to plan a program asks for. The body counts before the query, as in
Flink; names of Flink 1.x go on to work: `programArgs`, `program-args`, `entry-class`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from rest_framework.request import Request

from headrace.wire.savepoint import Restore
from jobs import artifacts, beginnings, options
from jobs.artifacts import Artifact
from jobs.flink import answers, reading

_LONGEST = 32_768


@dataclass(frozen=True, slots=True)
class Wish:
    """`job_id`: "" = any. `name`: "" = as the file."""

    name: str
    arguments: list[str]
    parallelism: int
    configuration: dict[str, str]
    restore: Restore | None
    job_id: str


def read(request: Request, artifact: Artifact) -> Wish:
    """Raises ParseError, Refused (400)."""
    body = {key: value for key, value in reading.body(request).items() if value not in (None, "")}
    configuration = _configuration(body)
    entry_class = reading.text(body, "entryClass", "entry-class")
    entry_class = entry_class or reading.parameter(request, "entry-class")
    if entry_class and not artifact.is_package:
        raise answers.bad_request(
            f"{artifact.name} is run as it is; an entry class ({entry_class!r}) is for archives"
        )
    if entry_class:
        configuration[artifacts.ENTRY_CLASS] = entry_class
    return Wish(
        name=configuration.get("pipeline.name", "") or _name(artifact),
        arguments=_arguments(body, request),
        parallelism=_parallelism(body, request, configuration),
        configuration=configuration,
        restore=_restore(body, request),
        job_id=_job_id(body),
    )


def _name(artifact: Artifact) -> str:
    stem = artifact.path.stem
    return stem.partition("-")[0] if artifact.path.suffix == ".whl" else stem


def _arguments(body: Mapping[str, Any], request: Request) -> list[str]:
    """As a list, or as a command line has them."""
    said, listed = reading.text(body, "programArgs"), body.get("programArgsList") or []
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise answers.bad_request("programArgsList is a list of texts")
    if not said and not listed:
        said = reading.parameter(request, "program-args")
        listed = [part for part in reading.parameter(request, "programArg").split(",") if part]
    if said and listed:
        raise answers.bad_request(
            "Confusing request: programArgs and programArgsList are specified, please, use only "
            "programArgsList"
        )
    try:
        found = listed or shlex.split(said)
    except ValueError as error:
        raise answers.bad_request(f"programArgs is no command line: {error}") from None
    if sum(map(len, found)) > _LONGEST or any("\x00" in each for each in found):
        raise answers.bad_request(f"program arguments have at most {_LONGEST} characters")
    return found


def _parallelism(body: Mapping[str, Any], request: Request, settings_: Mapping[str, str]) -> int:
    """Its bounds are checked where jobs are submitted."""
    said = body.get("parallelism") or reading.number(request, "parallelism", 0, 1) or None
    for source in (settings_, settings.HEADRACE_PROPERTIES):
        said = said or source.get("parallelism.default")
    text = str(said or 1).strip()
    if isinstance(said, bool) or not re.fullmatch(r"[0-9]{1,9}", text):
        raise answers.bad_request(f"parallelism {said!r:.40} is no positive number")
    return int(text)


def _restore(body: Mapping[str, Any], request: Request) -> Restore | None:
    path = reading.text(body, "savepointPath") or reading.parameter(request, "savepointPath")
    if not path.strip():
        return None
    lost = reading.flag(body, "allowNonRestoredState")
    if "allowNonRestoredState" not in body:
        lost = reading.truth(request, "allowNonRestoredState")
    mode = reading.text(body, "claimMode", "restoreMode") or reading.parameter(request, "claimMode")
    try:
        return beginnings.wanted(path, mode, allow_lost=lost)
    except options.InvalidOption as error:
        raise answers.bad_request(str(error)) from None


def _configuration(body: Mapping[str, Any]) -> dict[str, str]:
    given = body.get("flinkConfiguration") or {}
    if not isinstance(given, dict) or any(isinstance(v, dict | list) for v in given.values()):
        raise answers.bad_request('flinkConfiguration is an object like {"key": "value"}')
    return {str(key): _as_text(value) for key, value in given.items() if value is not None}


def _as_text(value: object) -> str:
    """As JSON has it: true, not True."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _job_id(body: Mapping[str, Any]) -> str:
    said = reading.text(body, "jobId").lower()
    if said and not re.fullmatch(r"[0-9a-f]{32}", said):
        raise answers.bad_request(f"jobId {said[:60]!r} is not 32 hexadecimal digits")
    return said

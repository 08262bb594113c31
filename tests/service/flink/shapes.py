"""Whether an answer has the shape of one that was recorded from Flink: keys, types, nesting."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).with_name("samples")
#: Objects whose keys are data: ids, names, settings.
BY_NAME = {
    *("tasks/*", "vertices/*", "slots/*", "user-config", "accumulator-results", "failureLabels"),
    *("serialized-user-task-accumulators", "extendedResources"),
}
#: What Java serialized: there is no such thing here.
JAVA = {"serialized-throwable"}


@cache
def sample(name: str) -> dict[str, Any]:
    """{"request", "status", "body"}"""
    found: dict[str, Any] = json.loads((SAMPLES / f"{name}.json").read_text())
    return found


def assert_as(name: str, answer: Any, *, maps: tuple[str, ...] = ()) -> None:
    """Status and body are as Flink's. `maps`: paths of further objects whose keys are data."""
    recorded = sample(name)
    assert answer.status_code == recorded["status"], answer.content
    assert answer["Content-Type"] == "application/json; charset=UTF-8"
    body, theirs = answer.json(), recorded["body"]
    if isinstance(theirs, dict) and "errors" in theirs:
        assert list(body) == ["errors"]
        return
    found = list(_differences(body, theirs, "", frozenset(maps)))
    assert not found, f"{name}: " + "; ".join(found)


def _differences(ours: Any, theirs: Any, path: str, maps: frozenset[str]) -> Any:
    if ours is None or theirs is None:
        return  # either may be unknown
    if _kind(ours) != _kind(theirs):
        yield f"{path or 'the body'} is {ours!r}, in Flink {theirs!r}"
    elif isinstance(theirs, dict):
        yield from _of_objects(ours, theirs, path, maps)
    elif isinstance(theirs, list) and theirs:
        for number, each in enumerate(ours):
            like = next((t for t in theirs if _alike(each, t)), theirs[0])
            yield from _differences(each, like, f"{path}[{number}]", maps)


def _of_objects(ours: Any, theirs: Any, path: str, maps: frozenset[str]) -> Any:
    if _is_map(path, ours, theirs, maps):
        for value in ours.values():
            yield from _differences(value, next(iter(theirs.values())), f"{path}/*", maps)
        return
    for key, value in theirs.items():
        if key in JAVA:
            continue
        if key not in ours:
            yield f"{path}/{key} is missing"
        else:
            yield from _differences(ours[key], value, f"{path}/{key}", maps)


def _is_map(path: str, ours: Any, theirs: Any, maps: frozenset[str]) -> bool:
    name = path.rsplit("/", 1)[-1]
    ids = bool(theirs) and all(len(key) == 32 and key.isalnum() for key in theirs)
    return (ids or name in BY_NAME or path in maps) and bool(theirs)


def _alike(ours: Any, theirs: Any) -> bool:
    """Entries of a list may be of several kinds; sources have no inputs."""
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return True
    kinds = [(each.get("className"), "inputs" in each) for each in (ours, theirs)]
    return kinds[0] == kinds[1]


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float) or value == "NaN":
        return "number"
    return type(value).__name__

"""Settings by Flink's keys; PyFlink's `pyflink.common.configuration`."""

from __future__ import annotations

import ast
from typing import Any

from headrace.common.durations import parse_millis


class Configuration:
    """Keys, and values that are texts however they were set, with typed readers. Unknown keys are
    kept."""

    def __init__(self, other: Configuration | dict[str, str] | None = None) -> None:
        """A copy of another one, or of a dict."""
        #: As they were set: `add_all_to_dict` gives numbers back as numbers.
        self._values: dict[str, Any] = dict(
            other._values if isinstance(other, Configuration) else other or {}
        )

    @classmethod
    def from_dict(cls, map: dict[str, str]) -> Configuration:
        return cls(map)

    @staticmethod
    def parse_list_value(value: str | None) -> list[str]:
        """The parts of a list: `a;b`, or YAML's `[a, b]` or lines that begin with `- `."""
        if not value:
            return []
        if value.startswith("[") and value.endswith("]"):
            return [_plain(part) for part in value[1:-1].split(",") if part.strip()]
        lines = [line.strip() for line in value.splitlines() if line.strip()]
        if all(line.startswith("- ") for line in lines):
            return [_plain(line[2:]) for line in lines]
        return value.split(";")

    def set_string(self, key: str, value: str) -> Configuration:
        return self._set(key, value)

    def get_string(self, key: str, default_value: str) -> str:
        return _text(self._values[key]) if key in self._values else default_value

    def set_integer(self, key: str, value: int) -> Configuration:
        return self._set(key, value)

    def get_integer(self, key: str, default_value: int) -> int:
        return int(self._values.get(key, default_value))

    def set_float(self, key: str, value: float) -> Configuration:
        return self._set(key, value)

    def get_float(self, key: str, default_value: float) -> float:
        return float(self._values.get(key, default_value))

    def set_boolean(self, key: str, value: bool) -> Configuration:
        return self._set(key, value)

    def get_boolean(self, key: str, default_value: bool) -> bool:
        return self.get_string(key, str(default_value)).lower() == "true"

    def set_bytearray(self, key: str, value: bytearray) -> Configuration:
        return self._set(key, value)

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        if key not in self._values:
            return default_value
        return bytearray(ast.literal_eval(self.get_string(key, "")))

    def get_millis(self, key: str, default_value: int) -> int:
        """Headrace's own: a span of time in Flink's forms (`10 s`, `5min`, `PT1M`, `3000`)."""
        return parse_millis(self.get_string(key, "")) if key in self._values else default_value

    def key_set(self) -> set[str]:
        return set(self._values)

    def contains_key(self, key: str) -> bool:
        return key in self._values

    def remove_config(self, key: str) -> bool:
        return self._values.pop(key, None) is not None

    def to_dict(self) -> dict[str, str]:
        return {key: _text(value) for key, value in self._values.items()}

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        added = {(prefix or "") + key: value for key, value in other._values.items()}
        self._values.update(added)
        return self

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        target_dict.update(self._values)

    def _set(self, key: str, value: Any) -> Configuration:
        self._values[key] = value
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(frozenset(self.to_dict().items()))

    def __str__(self) -> str:
        return "{" + ", ".join(f"{key}={value}" for key, value in self.to_dict().items()) + "}"


def _text(value: Any) -> str:
    """As it stands in a file of settings."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(bytes(value)) if isinstance(value, bytearray) else str(value)


def _plain(text: str) -> str:
    return text.strip().strip("'\"")

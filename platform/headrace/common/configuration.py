"""Settings by Flink's keys; PyFlink's `pyflink.common.configuration`."""

from __future__ import annotations

import ast
from typing import Any

from headrace.common.durations import parse_millis


class Configuration:
    """String keys and values, with typed readers. Unknown keys are kept."""

    def __init__(self, other: Configuration | dict[str, str] | None = None) -> None:
        """A copy of another one, or of a dict."""
        self._values = dict(other.to_dict() if isinstance(other, Configuration) else other or {})

    @classmethod
    def from_dict(cls, map: dict[str, str]) -> Configuration:
        return cls(map)

    @staticmethod
    def parse_list_value(value: str) -> list[str]:
        """The parts of a list: `a;b`, or YAML's `[a, b]`."""
        if not value:
            return []
        if value.startswith("[") and value.endswith("]"):
            return [part.strip().strip("'\"") for part in value[1:-1].split(",") if part.strip()]
        return value.split(";")

    def set_string(self, key: str, value: str) -> Configuration:
        self._values[key] = value
        return self

    def get_string(self, key: str, default_value: str) -> str:
        return self._values.get(key, default_value)

    def set_integer(self, key: str, value: int) -> Configuration:
        return self.set_string(key, str(value))

    def get_integer(self, key: str, default_value: int) -> int:
        return int(self._values.get(key, default_value))

    def set_float(self, key: str, value: float) -> Configuration:
        return self.set_string(key, str(value))

    def get_float(self, key: str, default_value: float) -> float:
        return float(self._values.get(key, default_value))

    def set_boolean(self, key: str, value: bool) -> Configuration:
        return self.set_string(key, str(value).lower())

    def get_boolean(self, key: str, default_value: bool) -> bool:
        return self._values.get(key, str(default_value)).lower() == "true"

    def set_bytearray(self, key: str, value: bytearray) -> Configuration:
        return self.set_string(key, str(bytes(value)))

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        text = self._values.get(key)
        return default_value if text is None else bytearray(ast.literal_eval(text))

    def get_millis(self, key: str, default_value: int) -> int:
        """Headrace's own: a span of time in Flink's forms (`10 s`, `5min`, `PT1M`, `3000`)."""
        text = self._values.get(key)
        return default_value if text is None else parse_millis(text)

    def key_set(self) -> set[str]:
        return set(self._values)

    def contains_key(self, key: str) -> bool:
        return key in self._values

    def remove_config(self, key: str) -> bool:
        return self._values.pop(key, None) is not None

    def to_dict(self) -> dict[str, str]:
        return dict(self._values)

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        added = {(prefix or "") + key: value for key, value in other._values.items()}
        self._values.update(added)
        return self

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        target_dict.update(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and self._values == other._values

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __str__(self) -> str:
        return str(self._values)

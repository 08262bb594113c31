"""Settings by Flink's keys; PyFlink's `pyflink.common.configuration`."""

from __future__ import annotations


class Configuration:
    """String keys and values, with typed readers. Unknown keys are kept."""

    def __init__(self, values: dict[str, str] | None = None) -> None:
        self._values = dict(values or {})

    @classmethod
    def from_dict(cls, values: dict[str, str]) -> Configuration:
        return cls(values)

    def set_string(self, key: str, value: str) -> Configuration:
        self._values[key] = value
        return self

    def get_string(self, key: str, default_value: str) -> str:
        return self._values.get(key, default_value)

    def set_integer(self, key: str, value: int) -> Configuration:
        return self.set_string(key, str(value))

    def get_integer(self, key: str, default_value: int) -> int:
        return int(self._values.get(key, default_value))

    def set_boolean(self, key: str, value: bool) -> Configuration:
        return self.set_string(key, str(value).lower())

    def get_boolean(self, key: str, default_value: bool) -> bool:
        return self._values.get(key, str(default_value)).lower() == "true"

    def contains_key(self, key: str) -> bool:
        return key in self._values

    def to_dict(self) -> dict[str, str]:
        return dict(self._values)

    def add_all(self, other: Configuration) -> None:
        self._values.update(other._values)

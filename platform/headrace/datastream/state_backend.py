"""PyFlink's `pyflink.datastream.state_backend`.

State is always in Spark's RocksDB state store, with changelog checkpoints: the one that Spark's
stateful operators have. Programs may name any of Flink's back ends and get the same results; what
they say of RocksDB is kept and has no effect. A job that runs in one process keeps state in
memory.
"""

from __future__ import annotations

from enum import Enum
from urllib.parse import urlsplit


class StateBackend:
    """Base of the back ends."""


class HashMapStateBackend(StateBackend):
    """In Flink state as objects in memory."""


class PredefinedOptions(Enum):
    """Flink's sets of options for RocksDB."""

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class EmbeddedRocksDBStateBackend(StateBackend):
    """State in RocksDB, which holds more than memory."""

    def __init__(self, enable_incremental_checkpointing: bool | None = None) -> None:
        self._incremental = bool(enable_incremental_checkpointing)
        self._paths: list[str] | None = None
        self._predefined = PredefinedOptions.DEFAULT
        self._options: str | None = None
        self._transfer_threads = 4

    def set_db_storage_paths(self, *paths: str) -> None:
        """Folders, also as `file://` addresses."""
        self._paths = [_folder(path) for path in paths] or None

    def get_db_storage_paths(self) -> list[str] | None:
        return self._paths

    def is_incremental_checkpoints_enabled(self) -> bool:
        """What the program asked for; checkpoints are changelogs in any case."""
        return self._incremental

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        self._predefined = options

    def get_predefined_options(self) -> PredefinedOptions:
        return self._predefined

    def set_options(self, options_factory_class_name: str) -> None:
        self._options = options_factory_class_name

    def get_options(self) -> str | None:
        return self._options

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        self._transfer_threads = number_of_transfering_threads

    def get_number_of_transfer_threads(self) -> int:
        return self._transfer_threads


class CustomStateBackend(StateBackend):
    """In Flink one that is written in Java: there is none here."""

    def __init__(self, j_custom_state_backend: object) -> None:
        raise NotImplementedError("state back ends written in Java do not run on Spark")


def _folder(path: str) -> str:
    return (urlsplit(path).path if path.startswith("file:") else path).rstrip("/") or "/"

"""How small files would be put together; PyFlink's classes of `connectors.file_system`.

Without effect: each micro-batch writes one file a task and bucket, and a longer checkpoint interval
makes fewer and larger ones. The records are the same."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class FileCompactStrategy:
    """When files are put together: kept, without effect."""

    checkpoints: int = -1
    size_threshold: int = -1
    threads: int = 1

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        return FileCompactStrategy.Builder()

    class Builder:
        def __init__(self) -> None:
            self._strategy = FileCompactStrategy()

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            self._strategy = replace(self._strategy, checkpoints=num_checkpoints_before_compaction)
            return self

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            self._strategy = replace(self._strategy, size_threshold=size_threshold)
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            self._strategy = replace(self._strategy, threads=num_compact_threads)
            return self

        def build(self) -> FileCompactStrategy:
            """Raises ValueError where neither a number of checkpoints nor a size is set."""
            if self._strategy.checkpoints < 1 and self._strategy.size_threshold < 0:
                raise ValueError("a strategy needs a number of checkpoints or a size threshold")
            return self._strategy


@dataclass(frozen=True)
class FileCompactor:
    """How files are put together: kept, without effect."""

    delimiter: bytes | None = None

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        return FileCompactor(file_delimiter)

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        return FileCompactor()

"""PyFlink's `pyflink.datastream.checkpoint_storage`.

Checkpoints go where the platform keeps those of the job, or beside the program's run on a laptop.
A program may name any storage; what it says is kept, and its paths are not used.
"""

from __future__ import annotations


class CheckpointStorage:
    """Base of the storages."""


class JobManagerCheckpointStorage(CheckpointStorage):
    """In Flink the JobManager's memory."""

    DEFAULT_MAX_STATE_SIZE = 5 * 1024 * 1024

    def __init__(
        self, checkpoint_path: str | None = None, max_state_size: int | None = None
    ) -> None:
        self._checkpoint_path = checkpoint_path
        self._max_state_size = max_state_size or self.DEFAULT_MAX_STATE_SIZE

    def get_checkpoint_path(self) -> str | None:
        return self._checkpoint_path

    def get_savepoint_path(self) -> str | None:
        return None

    def get_max_state_size(self) -> int:
        """What the program said; state may be larger."""
        return self._max_state_size


class FileSystemCheckpointStorage(CheckpointStorage):
    """In Flink a folder."""

    MAX_FILE_STATE_THRESHOLD = 1024 * 1024

    def __init__(
        self,
        checkpoint_path: str,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int = -1,
    ) -> None:
        if checkpoint_path is None:
            raise ValueError("checkpoint_path must not be None")
        self._checkpoint_path = checkpoint_path.rstrip("/") or checkpoint_path
        self._threshold = file_state_size_threshold
        self._write_buffer_size = write_buffer_size

    def get_checkpoint_path(self) -> str:
        return self._checkpoint_path

    def get_savepoint_path(self) -> str | None:
        return None

    def get_min_file_size_threshold(self) -> int:
        """Flink's default is 20 KiB."""
        return 20 * 1024 if self._threshold is None else self._threshold

    def get_write_buffer_size(self) -> int:
        """Flink's default is 4 KiB."""
        return 4096 if self._write_buffer_size < 0 else self._write_buffer_size


class CustomCheckpointStorage(CheckpointStorage):
    """In Flink one that is written in Java: there is none here."""

    def __init__(self, j_custom_checkpoint_storage: object) -> None:
        raise NotImplementedError("checkpoint storages written in Java do not run on Spark")

"""Settings of checkpoints; PyFlink's `pyflink.datastream.checkpoint_config`.

Every micro-batch is a checkpoint, aligned and exactly-once. Of these settings the interval, the
pause, the timeout, the tolerable failures and the retention count; the others are kept and read
back, and their docstrings say what holds instead."""

from __future__ import annotations

from headrace.common.configuration import Configuration
from headrace.common.time import Duration
from headrace.datastream.checkpoint_storage import (
    CheckpointStorage,
    FileSystemCheckpointStorage,
)
from headrace.datastream.checkpointing_mode import CheckpointingMode
from headrace.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from headrace.wire.checkpointing import RETENTION

_PREFIX = "execution.checkpointing."
INTERVAL = f"{_PREFIX}interval"
MODE = f"{_PREFIX}mode"
TIMEOUT = f"{_PREFIX}timeout"
MIN_PAUSE = f"{_PREFIX}min-pause"
CONCURRENT = f"{_PREFIX}max-concurrent-checkpoints"
TOLERABLE = f"{_PREFIX}tolerable-failed-checkpoints"
UNALIGNED = f"{_PREFIX}unaligned.enabled"
FORCE_UNALIGNED = f"{_PREFIX}unaligned.forced"
ALIGNED_TIMEOUT = f"{_PREFIX}aligned-checkpoint-timeout"
STORAGE = f"{_PREFIX}storage"
DIRECTORY = f"{_PREFIX}dir"
#: Flink's older name of `savepoint-dir`.
OLD_SAVEPOINTS = "state.savepoints.dir"


#: PyFlink 1's name of it.
ExternalizedCheckpointCleanup = ExternalizedCheckpointRetention


class CheckpointConfig:
    """A view of the environment's configuration."""

    DEFAULT_MODE = CheckpointingMode.EXACTLY_ONCE
    DEFAULT_TIMEOUT = 10 * 60 * 1000
    DEFAULT_MIN_PAUSE_BETWEEN_CHECKPOINTS = 0
    DEFAULT_MAX_CONCURRENT_CHECKPOINTS = 1

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._storage: CheckpointStorage | None = None

    def is_checkpointing_enabled(self) -> bool:
        return self.get_checkpoint_interval() > 0

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """AT_LEAST_ONCE as long as checkpointing is not enabled, as in Flink."""
        enabled = self.is_checkpointing_enabled()
        return self._configured_mode() if enabled else CheckpointingMode.AT_LEAST_ONCE

    def _configured_mode(self) -> CheckpointingMode:
        return CheckpointingMode[self._configuration.get_string(MODE, "EXACTLY_ONCE").upper()]

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        self._configuration.set_string(MODE, checkpointing_mode.name)
        return self

    get_checkpointing_consistency_mode = get_checkpointing_mode
    set_checkpointing_consistency_mode = set_checkpointing_mode

    def get_checkpoint_interval(self) -> int:
        """Milliseconds, -1 when checkpointing was not enabled (micro-batches run on end)."""
        return self._configuration.get_millis(INTERVAL, -1)

    def set_checkpoint_interval(self, checkpoint_interval: int) -> CheckpointConfig:
        if checkpoint_interval < 1:
            raise ValueError(f"the checkpoint interval must be positive, not {checkpoint_interval}")
        return self._set_millis(INTERVAL, checkpoint_interval)

    def get_checkpoint_timeout(self) -> int:
        return self._configuration.get_millis(TIMEOUT, self.DEFAULT_TIMEOUT)

    def set_checkpoint_timeout(self, checkpoint_timeout: int) -> CheckpointConfig:
        """A micro-batch that takes longer counts as a failed checkpoint; it goes on."""
        return self._set_millis(TIMEOUT, checkpoint_timeout)

    def get_min_pause_between_checkpoints(self) -> int:
        return self._configuration.get_millis(MIN_PAUSE, 0)

    def set_min_pause_between_checkpoints(
        self, min_pause_between_checkpoints: int
    ) -> CheckpointConfig:
        """From the end of one micro-batch to the start of the next at the least."""
        return self._set_millis(MIN_PAUSE, min_pause_between_checkpoints)

    def get_max_concurrent_checkpoints(self) -> int:
        return self._configuration.get_integer(CONCURRENT, 1)

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """There is always one."""
        if max_concurrent_checkpoints < 1:
            raise ValueError("at least one checkpoint must be allowed at a time")
        self._configuration.set_integer(CONCURRENT, max_concurrent_checkpoints)
        return self

    def is_fail_on_checkpointing_errors(self) -> bool:
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_fail_on_checkpointing_errors(
        self, fail_on_checkpointing_errors: bool
    ) -> CheckpointConfig:
        return self.set_tolerable_checkpoint_failure_number(
            0 if fail_on_checkpointing_errors else (1 << 31) - 1
        )

    def get_tolerable_checkpoint_failure_number(self) -> int:
        return self._configuration.get_integer(TOLERABLE, 0)

    def set_tolerable_checkpoint_failure_number(
        self, tolerable_checkpoint_failure_number: int
    ) -> CheckpointConfig:
        """When more than so many in a row take too long, the job fails, and its restart strategy
        decides. No micro-batch is skipped: it is run again."""
        self._configuration.set_integer(TOLERABLE, tolerable_checkpoint_failure_number)
        return self

    def set_externalized_checkpoint_retention(
        self, retention_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Whether checkpoints are removed when the job is cancelled (DELETE_ON_CANCELLATION), or at
        its end however that comes, but for failures (NO_EXTERNALIZED_CHECKPOINTS). Unless set, they
        stay: a cancelled job can be started again."""
        self._configuration.set_string(RETENTION, retention_mode.name)
        return self

    def is_externalized_checkpoints_enabled(self) -> bool:
        kept = self.get_externalized_checkpoint_retention()
        return kept is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        name = self._configuration.get_string(RETENTION, "NO_EXTERNALIZED_CHECKPOINTS")
        return ExternalizedCheckpointRetention[name.upper()]

    set_externalized_checkpoint_cleanup = set_externalized_checkpoint_retention
    enable_externalized_checkpoints = set_externalized_checkpoint_retention
    get_externalized_checkpoint_cleanup = get_externalized_checkpoint_retention

    def set_checkpoint_storage(self, storage: CheckpointStorage) -> CheckpointConfig:
        """PyFlink 1's; kept, as all that is said of storage."""
        self._storage = storage
        return self

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> CheckpointConfig:
        """PyFlink 1's; kept. Checkpoints are where the platform keeps the job's."""
        return self.set_checkpoint_storage(FileSystemCheckpointStorage(checkpoint_path))

    def get_checkpoint_storage(self) -> CheckpointStorage | None:
        return self._storage

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Not with AT_LEAST_ONCE, which aligns nothing."""
        exactly = self._configured_mode() is CheckpointingMode.EXACTLY_ONCE
        return exactly and self._configuration.get_boolean(UNALIGNED, False)

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> CheckpointConfig:
        """A micro-batch has no records in flight at its end: there is nothing to align."""
        self._configuration.set_boolean(UNALIGNED, enabled)
        return self

    def disable_unaligned_checkpoints(self) -> CheckpointConfig:
        return self.enable_unaligned_checkpoints(False)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        return self._set_millis(ALIGNED_TIMEOUT, alignment_timeout.to_millis())

    def get_aligned_checkpoint_timeout(self) -> Duration:
        return Duration.of_millis(self._configuration.get_millis(ALIGNED_TIMEOUT, 0))

    set_alignment_timeout = set_aligned_checkpoint_timeout
    get_alignment_timeout = get_aligned_checkpoint_timeout

    def set_force_unaligned_checkpoints(
        self, force_unaligned_checkpoints: bool = True
    ) -> CheckpointConfig:
        self._configuration.set_boolean(FORCE_UNALIGNED, force_unaligned_checkpoints)
        return self

    def is_force_unaligned_checkpoints(self) -> bool:
        return self._configuration.get_boolean(FORCE_UNALIGNED, False)

    def _set_millis(self, key: str, millis: int) -> CheckpointConfig:
        self._configuration.set_string(key, f"{millis} ms")
        return self


def said(values: dict[str, str]) -> dict[str, str]:
    """What a configuration says about checkpoints and savepoints: its keys, as they stand."""
    return {
        key: value
        for key, value in values.items()
        if key.startswith(_PREFIX) or key == OLD_SAVEPOINTS
    }

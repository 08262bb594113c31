"""The settings of a StreamExecutionEnvironment."""

from __future__ import annotations

from typing import Any, Self

from headrace.common.configuration import Configuration
from headrace.common.durations import parse_millis
from headrace.common.execution_config import ExecutionConfig
from headrace.common.restart_strategy import RestartStrategyConfiguration
from headrace.datastream.checkpoint_config import MODE, CheckpointConfig
from headrace.datastream.checkpointing_mode import CheckpointingMode
from headrace.datastream.execution_mode import RuntimeExecutionMode
from headrace.datastream.slot_sharing_group import SlotSharingGroup
from headrace.datastream.time_characteristic import TimeCharacteristic
from headrace.runtime import context as run_context

DEFAULT_MAX_PARALLELISM = 128
CHARACTERISTIC = "pipeline.time-characteristic"
MODE_KEY = "execution.runtime-mode"
CHAINING_KEY = "pipeline.operator-chaining.enabled"
OLD_CHAINING_KEY = "pipeline.operator-chaining"
_CHAINING_ACROSS = "pipeline.operator-chaining.chain-operators-with-different-max-parallelism"
BUFFER_TIMEOUT = "execution.buffer-timeout.interval"
OLD_BUFFER_TIMEOUT = "execution.buffer-timeout"
CHANGELOG = "state.changelog.enabled"
SAVEPOINTS = "execution.checkpointing.savepoint-dir"

_default_local_parallelism: int | None = None


class ConfiguredEnvironment:
    """Everything is kept under Flink's keys: what `configure` is given and what the setters say
    are the same. On the platform the job's own configuration is there from the start, and the
    program's settings beat it."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        launched = run_context.launched()
        self._launched = launched
        self._configuration = Configuration(launched.configuration if launched else None)
        self._configuration.add_all(configuration or Configuration())
        self._checkpointing = CheckpointConfig(self._configuration)
        self._config = ExecutionConfig(self._configuration)
        self._slot_sharing_groups: dict[str, SlotSharingGroup] = {}
        self._state_backend: Any = None

    def configure(
        self, configuration: Configuration, class_loader: Any = None
    ) -> ConfiguredEnvironment:
        """Settings by key; they beat what was set before."""
        self._configuration.add_all(configuration)
        return self

    def get_config(self) -> ExecutionConfig:
        return self._config

    # --- parallelism and mode

    def set_parallelism(self, parallelism: int) -> Self:
        """On the platform the slots of the job decide; this is for running without it."""
        self._config.set_parallelism(parallelism)
        return self

    def get_parallelism(self) -> int:
        if self._launched is not None:
            return self._launched.parallelism
        configured = self._config.get_parallelism()
        return configured if configured > 0 else self.get_default_local_parallelism()

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """The number of key groups: fixed for the life of the job's state."""
        self._config.set_max_parallelism(max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        configured = self._config.get_max_parallelism()
        return configured if configured > 0 else DEFAULT_MAX_PARALLELISM

    def get_default_local_parallelism(self) -> int:
        return _default_local_parallelism or run_context.laptop_parallelism()

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Of all environments of this process that set none."""
        global _default_local_parallelism
        if parallelism < 1:
            raise ValueError(f"parallelism must be positive, not {parallelism}")
        _default_local_parallelism = parallelism

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> Self:
        """STREAMING unless it is set."""
        self._configuration.set_string(MODE_KEY, execution_mode.name)
        return self

    @property
    def _runtime_mode(self) -> RuntimeExecutionMode:
        name = self._configuration.get_string(MODE_KEY, "STREAMING").upper()
        if name not in RuntimeExecutionMode.__members__:
            raise ValueError(f"{MODE_KEY} is STREAMING, BATCH or AUTOMATIC, not {name!r}")
        return RuntimeExecutionMode[name]

    def set_stream_time_characteristic(self, characteristic: TimeCharacteristic) -> Self:
        """PyFlink 1's. Without effect: windows and timers say which time they are about, and there
        is event time where a watermark strategy is. Ingestion time needs one that says so."""
        if characteristic is TimeCharacteristic.IngestionTime:
            raise NotImplementedError("give sources WatermarkStrategy.for_ingestion_time()")
        self._configuration.set_string(CHARACTERISTIC, characteristic.name)
        return self

    def get_stream_time_characteristic(self) -> TimeCharacteristic:
        return TimeCharacteristic[self._configuration.get_string(CHARACTERISTIC, "EventTime")]

    # --- chaining and slots

    def disable_operator_chaining(self) -> Self:
        """Shown in the plan: stateless operators of a stage run in one task all the same."""
        self._configuration.set_boolean(CHAINING_KEY, False)
        return self

    def is_chaining_enabled(self) -> bool:
        old = self._configuration.get_boolean(OLD_CHAINING_KEY, True)
        return self._configuration.get_boolean(CHAINING_KEY, old)

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        return self._configuration.get_boolean(_CHAINING_ACROSS, True)

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> Self:
        self._slot_sharing_groups[slot_sharing_group.get_name()] = slot_sharing_group
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Without effect: records travel in micro-batches, at the checkpoint's interval."""
        if timeout_millis < -1:
            raise ValueError(f"the buffer timeout must be -1 or more, not {timeout_millis}")
        self._configuration.set_string(BUFFER_TIMEOUT, str(timeout_millis))
        return self

    def get_buffer_timeout(self) -> int:
        old = self._configuration.get_millis(OLD_BUFFER_TIMEOUT, 100)
        text = self._configuration.get_string(BUFFER_TIMEOUT, str(old))
        return -1 if text == "-1" else parse_millis(text)

    # --- checkpoints

    def get_checkpoint_config(self) -> CheckpointConfig:
        return self._checkpointing

    def enable_checkpointing(
        self, interval: int, mode: CheckpointingMode = CheckpointingMode.EXACTLY_ONCE
    ) -> Self:
        """A micro-batch, and so a checkpoint and a commit of the sinks, each `interval` ms at
        the most; one follows the other at once where it takes longer."""
        self._checkpointing.set_checkpoint_interval(interval)
        self._configuration.set_string(MODE, mode.name)
        return self

    def get_checkpoint_interval(self) -> int:
        """Milliseconds, -1 when checkpointing was not enabled (micro-batches run on end)."""
        return self._checkpointing.get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        return self._checkpointing.get_checkpointing_mode()

    get_checkpointing_consistency_mode = get_checkpointing_mode

    def is_unaligned_checkpoints_enabled(self) -> bool:
        return self._checkpointing.is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        return self._checkpointing.is_force_unaligned_checkpoints()

    def set_default_savepoint_directory(self, directory: str) -> Self:
        self._configuration.set_string(SAVEPOINTS, directory)
        return self

    def get_default_savepoint_directory(self) -> str | None:
        return self._configuration.get_string(SAVEPOINTS, "") or None

    def enable_changelog_state_backend(self, enabled: bool) -> Self:
        """Without effect: Spark's state store writes changelogs."""
        self._configuration.set_boolean(CHANGELOG, enabled)
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        if not self._configuration.contains_key(CHANGELOG):
            return None
        return self._configuration.get_boolean(CHANGELOG, False)

    def set_state_backend(self, state_backend: Any) -> Self:
        """PyFlink 1's; in version 2 it is the key `state.backend.type`."""
        self._state_backend = state_backend
        return self

    def get_state_backend(self) -> Any:
        return self._state_backend

    # --- restarts

    def set_restart_strategy(
        self, restart_strategy_configuration: RestartStrategyConfiguration
    ) -> Self:
        """PyFlink 1's; in version 2 these are the keys `restart-strategy.*`. It beats what the job
        is submitted with, from the first time that the program gets to `execute`."""
        for key, value in restart_strategy_configuration.to_dict().items():
            self._configuration.set_string(key, value)
        self._restart_strategy = restart_strategy_configuration
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration | None:
        return getattr(self, "_restart_strategy", None)

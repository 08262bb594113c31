"""Settings of execution; PyFlink's `pyflink.common.execution_config`.

A view of the environment's configuration. What belongs to Java's serializers (Kryo, Avro, generic
types), to object reuse and to closures is kept and read back, and changes nothing here."""

from __future__ import annotations

from typing import Any, Self

from headrace.common.configuration import Configuration

PARALLELISM = "parallelism.default"
MAX_PARALLELISM = "pipeline.max-parallelism"
WATERMARK_INTERVAL = "pipeline.auto-watermark-interval"
LATENCY_INTERVAL = "metrics.latency.interval"
CANCELLATION_INTERVAL = "task.cancellation.interval"
CANCELLATION_TIMEOUT = "task.cancellation.timeout"
CLOSURE_CLEANER = "pipeline.closure-cleaner-level"
FORCE_KRYO = "pipeline.force-kryo"
FORCE_AVRO = "pipeline.force-avro"
GENERIC_TYPES = "pipeline.generic-types"
GENERATED_UIDS = "pipeline.auto-generate-uids"
OBJECT_REUSE = "pipeline.object-reuse"
SNAPSHOT_COMPRESSION = "execution.checkpointing.snapshot-compression"
_PARAMETER = "pipeline.global-job-parameters."


class ExecutionConfig:
    PARALLELISM_DEFAULT = -1
    PARALLELISM_UNKNOWN = -2

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    # --- what counts

    def get_parallelism(self) -> int:
        return self._configuration.get_integer(PARALLELISM, self.PARALLELISM_DEFAULT)

    def set_parallelism(self, parallelism: int) -> Self:
        """On the platform the slots of the job decide; this is for running without it."""
        if parallelism < 1:
            raise ValueError(f"parallelism must be positive, not {parallelism}")
        self._configuration.set_integer(PARALLELISM, parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """-1 when not set."""
        return self._configuration.get_integer(MAX_PARALLELISM, -1)

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """The number of key groups: fixed for the life of the job's state."""
        if not 1 <= max_parallelism <= 32768:
            raise ValueError(f"max parallelism must be in 1..32768, not {max_parallelism}")
        self._configuration.set_integer(MAX_PARALLELISM, max_parallelism)
        return self

    def get_global_job_parameters(self) -> dict[str, str]:
        every = self._configuration.to_dict().items()
        return {k.removeprefix(_PARAMETER): v for k, v in every if k.startswith(_PARAMETER)}

    def set_global_job_parameters(self, global_job_parameters_dict: dict[str, Any]) -> Self:
        """What functions get from `RuntimeContext.get_job_parameter`."""
        for name, value in global_job_parameters_dict.items():
            self._configuration.set_string(_PARAMETER + name, str(value))
        return self

    def enable_auto_generated_uids(self) -> None:
        self._configuration.set_boolean(GENERATED_UIDS, True)

    def disable_auto_generated_uids(self) -> None:
        """A graph with an operator that has no uid of its own is refused."""
        self._configuration.set_boolean(GENERATED_UIDS, False)

    def has_auto_generated_uids_enabled(self) -> bool:
        return self._configuration.get_boolean(GENERATED_UIDS, True)

    # --- what is kept

    def get_auto_watermark_interval(self) -> int:
        return self._configuration.get_millis(WATERMARK_INTERVAL, 200)

    def set_auto_watermark_interval(self, interval: int) -> Self:
        """Watermarks move at the end of each micro-batch."""
        if interval < 0:
            raise ValueError(f"the watermark interval cannot be negative: {interval}")
        return self._set_millis(WATERMARK_INTERVAL, interval)

    def get_latency_tracking_interval(self) -> int:
        return self._configuration.get_millis(LATENCY_INTERVAL, 0)

    def set_latency_tracking_interval(self, interval: int) -> Self:
        return self._set_millis(LATENCY_INTERVAL, interval)

    def get_task_cancellation_interval(self) -> int:
        return self._configuration.get_millis(CANCELLATION_INTERVAL, 30_000)

    def set_task_cancellation_interval(self, interval: int) -> Self:
        return self._set_millis(CANCELLATION_INTERVAL, interval)

    def get_task_cancellation_timeout(self) -> int:
        return self._configuration.get_millis(CANCELLATION_TIMEOUT, 180_000)

    def set_task_cancellation_timeout(self, timeout: int) -> Self:
        return self._set_millis(CANCELLATION_TIMEOUT, timeout)

    def enable_closure_cleaner(self) -> Self:
        self._configuration.set_string(CLOSURE_CLEANER, "RECURSIVE")
        return self

    def disable_closure_cleaner(self) -> Self:
        self._configuration.set_string(CLOSURE_CLEANER, "NONE")
        return self

    def is_closure_cleaner_enabled(self) -> bool:
        return self._configuration.get_string(CLOSURE_CLEANER, "RECURSIVE") != "NONE"

    def enable_force_kryo(self) -> Self:
        return self._set(FORCE_KRYO, True)

    def disable_force_kryo(self) -> Self:
        return self._set(FORCE_KRYO, False)

    def is_force_kryo_enabled(self) -> bool:
        return self._configuration.get_boolean(FORCE_KRYO, False)

    def enable_force_avro(self) -> Self:
        return self._set(FORCE_AVRO, True)

    def disable_force_avro(self) -> Self:
        return self._set(FORCE_AVRO, False)

    def is_force_avro_enabled(self) -> bool:
        return self._configuration.get_boolean(FORCE_AVRO, False)

    def enable_generic_types(self) -> Self:
        return self._set(GENERIC_TYPES, True)

    def disable_generic_types(self) -> Self:
        return self._set(GENERIC_TYPES, False)

    def has_generic_types_disabled(self) -> bool:
        return not self._configuration.get_boolean(GENERIC_TYPES, True)

    def enable_object_reuse(self) -> Self:
        return self._set(OBJECT_REUSE, True)

    def disable_object_reuse(self) -> Self:
        return self._set(OBJECT_REUSE, False)

    def is_object_reuse_enabled(self) -> bool:
        return self._configuration.get_boolean(OBJECT_REUSE, False)

    def is_use_snapshot_compression(self) -> bool:
        return self._configuration.get_boolean(SNAPSHOT_COMPRESSION, False)

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> Self:
        return self._set(SNAPSHOT_COMPRESSION, use_snapshot_compression)

    def get_default_kryo_serializer_classes(self) -> dict[str, str]:
        return {}

    def get_registered_kryo_types(self) -> list[str]:
        return []

    def get_registered_pojo_types(self) -> list[str]:
        return []

    def __eq__(self, other: object) -> bool:
        """The same settings, those of the configuration around included."""
        return isinstance(other, ExecutionConfig) and self._configuration == other._configuration

    def __hash__(self) -> int:
        return hash(self._configuration)

    def _set(self, key: str, value: bool) -> Self:
        self._configuration.set_boolean(key, value)
        return self

    def _set_millis(self, key: str, millis: int) -> Self:
        self._configuration.set_string(key, f"{millis} ms")
        return self

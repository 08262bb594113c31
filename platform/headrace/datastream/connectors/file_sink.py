"""The file sink of a program; its hooks are in `headrace.connectors.files`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from headrace.common.serialization import SerializationSchema
from headrace.connectors.files.buckets import BucketAssigner
from headrace.connectors.files.formats import Format, RowFormat
from headrace.connectors.files.sink import FilesSink
from headrace.datastream.connectors.file_compaction import FileCompactor, FileCompactStrategy

DEFAULT_PART_SIZE = 128 * 1024 * 1024


@dataclass(frozen=True)
class RollingPolicy:
    """When a file is closed and another one begun. Every micro-batch closes its files, since they
    become visible when it is committed; a policy can only add to that."""

    part_size: int | None

    @staticmethod
    def default_rolling_policy(
        part_size: int = DEFAULT_PART_SIZE,
        rollover_interval: int = 60_000,
        inactivity_interval: int = 60_000,
    ) -> DefaultRollingPolicy:
        """At `part_size` bytes. The intervals (ms) have no effect: no file is open longer than
        its micro-batch."""
        if part_size <= 0:
            raise ValueError("part_size must be above 0")
        return DefaultRollingPolicy(part_size)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        return OnCheckpointRollingPolicy(None)


class DefaultRollingPolicy(RollingPolicy):
    """By size."""


class OnCheckpointRollingPolicy(RollingPolicy):
    """With each micro-batch only."""


@dataclass(frozen=True)
class OutputFileConfig:
    """How file names begin and end."""

    part_prefix: str = "part"
    #: None: the format's own, ".parquet" for instance.
    part_suffix: str | None = None

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        return self.part_prefix

    def get_part_suffix(self) -> str:
        return self.part_suffix or ""

    class OutputFileConfigBuilder:
        def __init__(self) -> None:
            self._prefix = "part"
            self._suffix: str | None = None

        def with_part_prefix(self, prefix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Not "." or "_" first: readers would take the files for hidden ones."""
            if "/" in prefix or prefix.startswith((".", "_")):
                raise ValueError(f"{prefix!r} cannot begin the name of a file that readers see")
            self._prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            if "/" in suffix:
                raise ValueError(f"{suffix!r} cannot end the name of a file")
            self._suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            return OutputFileConfig(self._prefix, self._suffix)


class FileSink(FilesSink):
    """Files that become visible when their micro-batch is committed, each whole and once.

    Until then they are below the hidden folder `.headrace` of the base path, which readers must
    leave out (Spark, pyarrow and Hive do). A task writes one file a bucket and micro-batch.
    """

    @staticmethod
    def for_row_format(base_path: str, encoder: SerializationSchema) -> FileSink.RowFormatBuilder:
        """A line a value: `Encoder.simple_string_encoder()`, or any SerializationSchema, such as
        JsonRowSerializationSchema."""
        return FileSink.RowFormatBuilder(base_path, RowFormat(encoder))

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: Format) -> FileSink.BulkFormatBuilder:
        """`ParquetBulkWriters.for_row_type(...)` or `CsvBulkWriters.for_schema(...)`."""
        return FileSink.BulkFormatBuilder(base_path, writer_factory)

    class BaseBuilder:
        def __init__(self, base_path: str, format: Format, policy: RollingPolicy) -> None:
            self._base_path = base_path
            self._format = format
            self._policy = policy
            self._assigner = BucketAssigner.date_time_bucket_assigner()
            self._config = OutputFileConfig()

        def with_bucket_assigner(self, bucket_assigner: BucketAssigner) -> Self:
            """Folders; by the hour of writing unless another is given."""
            self._assigner = bucket_assigner
            return self

        def with_bucket_check_interval(self, interval: int) -> Self:
            """No effect: files are closed with their micro-batch."""
            return self

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Self:
            self._policy = rolling_policy
            return self

        def with_output_file_config(self, output_file_config: OutputFileConfig) -> Self:
            self._config = output_file_config
            return self

        def enable_compact(self, strategy: FileCompactStrategy, compactor: FileCompactor) -> Self:
            """No effect: the same records are in more files. A longer checkpoint interval makes
            fewer and larger ones."""
            return self

        def disable_compact(self) -> Self:
            return self

        def build(self) -> FileSink:
            """Raises ValueError for a path that is none of a file system."""
            return FileSink(
                self._base_path,
                self._format,
                self._assigner,
                part_size=self._policy.part_size,
                prefix=self._config.part_prefix,
                suffix=self._config.part_suffix,
            )

    class RowFormatBuilder(BaseBuilder):
        def __init__(self, base_path: str, format: Format) -> None:
            super().__init__(base_path, format, RollingPolicy.default_rolling_policy())

    class BulkFormatBuilder(BaseBuilder):
        def __init__(self, base_path: str, format: Format) -> None:
            super().__init__(base_path, format, RollingPolicy.on_checkpoint_rolling_policy())


class StreamingFileSink(FileSink):
    """PyFlink's older name of it, for `add_sink`."""

    DefaultRowFormatBuilder = FileSink.RowFormatBuilder
    DefaultBulkFormatBuilder = FileSink.BulkFormatBuilder

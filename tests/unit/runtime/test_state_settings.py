"""What programs say of where state is kept."""

from __future__ import annotations

import pytest

from headrace.datastream import (
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
    PredefinedOptions,
)
from headrace.datastream.checkpoint_storage import CustomCheckpointStorage


def test_what_is_said_of_rocksdb_is_kept() -> None:
    backend = EmbeddedRocksDBStateBackend(True)
    backend.set_db_storage_paths("/a", "/b")
    backend.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    backend.set_number_of_transfer_threads(8)
    backend.set_options("my.Factory")
    assert backend.is_incremental_checkpoints_enabled()
    assert backend.get_db_storage_paths() == ["/a", "/b"]
    assert backend.get_predefined_options() is PredefinedOptions.FLASH_SSD_OPTIMIZED
    assert backend.get_number_of_transfer_threads() == 8
    assert backend.get_options() == "my.Factory"


def test_what_is_said_of_checkpoint_storage_is_kept() -> None:
    files = FileSystemCheckpointStorage("file:///checkpoints", 100)
    assert files.get_checkpoint_path() == "file:///checkpoints"
    assert (files.get_min_file_size_threshold(), files.get_write_buffer_size()) == (100, 4096)
    assert JobManagerCheckpointStorage().get_max_state_size() == 5 * 1024 * 1024


def test_java_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="Java"):
        CustomStateBackend(object())
    with pytest.raises(NotImplementedError, match="Java"):
        CustomCheckpointStorage(object())

"""What programs set and read back, in Flink's forms."""

from __future__ import annotations

import pytest

from headrace.common import Configuration
from headrace.datastream import (
    EmbeddedRocksDBStateBackend,
    FileSystemCheckpointStorage,
    SlotSharingGroup,
    StreamExecutionEnvironment,
)
from headrace.datastream.slot_sharing_group import MemorySize


def test_a_configuration_gives_texts_or_what_was_set() -> None:
    settings = Configuration({"name": "job"})
    settings.set_integer("n", 2).set_boolean("on", True).set_float("x", 0.5)
    given: dict[str, object] = {}
    settings.add_all_to_dict(given)
    assert given == {"name": "job", "n": 2, "on": True, "x": 0.5}
    assert settings.to_dict() == {"name": "job", "n": "2", "on": "true", "x": "0.5"}
    assert str(settings) == "{name=job, n=2, on=true, x=0.5}"
    assert settings == Configuration(settings.to_dict())
    assert settings.get_string("n", "") == "2"


@pytest.mark.parametrize("text", ["a;b", "[a, 'b']", "- a\n- b\n"])
def test_lists_have_three_forms(text: str) -> None:
    assert Configuration.parse_list_value(text) == ["a", "b"]


def test_configs_with_the_same_settings_are_equal() -> None:
    one, other = (StreamExecutionEnvironment.get_execution_environment() for _ in range(2))
    assert one.get_config() == other.get_config()
    one.set_parallelism(7)
    assert one.get_config() != other.get_config()
    other.set_parallelism(7)
    assert hash(one.get_config()) == hash(other.get_config())


def test_folders_are_plain() -> None:
    assert FileSystemCheckpointStorage("file:///a/b/").get_checkpoint_path() == "file:///a/b"
    backend = EmbeddedRocksDBStateBackend()
    backend.set_db_storage_paths("file:///a/b/", "/c")
    assert backend.get_db_storage_paths() == ["/a/b", "/c"]


def test_a_group_asks_for_cores_and_heap_or_for_nothing() -> None:
    assert SlotSharingGroup.builder("g").build().get_task_off_heap_memory() is None
    whole = SlotSharingGroup.builder("g").set_cpu_cores(1.0).set_task_heap_memory_mb(64).build()
    assert whole.get_task_off_heap_memory() == MemorySize(0)
    for builder in (
        SlotSharingGroup.builder("g").set_cpu_cores(1.0),
        SlotSharingGroup.builder("g").set_managed_memory_mb(1),
        SlotSharingGroup.builder("g").set_cpu_cores(1.0).set_task_heap_memory(MemorySize(0)),
    ):
        with pytest.raises(ValueError, match="needs cores and task heap memory"):
            builder.build()


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (1000, "1000 bytes"), (64 << 20, "64 mb"), (1 << 40, "1 tb")]
)
def test_sizes_of_memory_print_in_their_largest_unit(size: int, text: str) -> None:
    assert str(MemorySize(size)) == text

"""Settings of the environment, and files of the program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from headrace.common import (
    ConfigOptions,
    Configuration,
    Duration,
    Encoder,
    JobStatus,
    RestartStrategies,
    Time,
    Types,
)
from headrace.common.durations import parse_millis
from headrace.datastream import (
    CheckpointConfig,
    CheckpointingMode,
    ExternalizedCheckpointRetention,
    SlotSharingGroup,
    StreamExecutionEnvironment,
)
from headrace.datastream.connectors.file_system import BucketAssigner, FileSink


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    settings = Configuration({"headrace.executor": "in-process", "parallelism.default": "1"})
    return StreamExecutionEnvironment.get_execution_environment(settings)


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("10 s", 10_000),
        ("5min", 300_000),
        ("1 h", 3_600_000),
        ("2d", 172_800_000),
        ("250", 250),
        ("250ms", 250),
        ("PT1M30S", 90_000),
        ("pt0.5s", 500),
        ("P1DT1H", 90_000_000),
    ],
)
def test_spans_of_time(text: str, millis: int) -> None:
    assert parse_millis(text) == millis


@pytest.mark.parametrize("text", ["", "soon", "10 parsecs", "PT", "-5 s"])
def test_what_is_no_span_of_time(text: str) -> None:
    with pytest.raises(ValueError, match="is no span of time"):
        parse_millis(text)


def test_setters_and_keys_say_the_same(env: StreamExecutionEnvironment) -> None:
    env.enable_checkpointing(3000, CheckpointingMode.AT_LEAST_ONCE)
    assert env.get_checkpoint_config().is_checkpointing_enabled()
    assert env.get_checkpoint_interval() == 3000
    env.configure(Configuration({"execution.checkpointing.interval": "10 s"}))
    assert env.get_checkpoint_interval() == 10_000
    assert env.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
    env.set_max_parallelism(12).set_parallelism(4).set_buffer_timeout(-1)
    assert (env.get_max_parallelism(), env.get_parallelism()) == (12, 4)
    assert env.get_buffer_timeout() == -1
    env.configure(
        Configuration({"pipeline.operator-chaining": "false", "parallelism.default": "3"})
    )
    assert (env.is_chaining_enabled(), env.get_config().get_parallelism()) == (False, 3)
    assert env.is_changelog_state_backend_enabled() is None
    env.enable_changelog_state_backend(True).set_default_savepoint_directory("/s")
    assert env.is_changelog_state_backend_enabled()
    assert env.get_default_savepoint_directory() == "/s"
    strategy = RestartStrategies.fixed_delay_restart(3, Time.seconds(2))
    assert env.set_restart_strategy(strategy).get_restart_strategy() == strategy
    assert "#3 restart attempts" in strategy.get_description()


def test_a_new_environment_has_flinks_defaults() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.get_checkpoint_interval() == -1
    assert env.get_max_parallelism() == 128
    assert env.get_buffer_timeout() == 100
    assert env.is_chaining_enabled()
    checkpoints = env.get_checkpoint_config()
    assert checkpoints.get_checkpoint_timeout() == CheckpointConfig.DEFAULT_TIMEOUT
    assert checkpoints.get_max_concurrent_checkpoints() == 1
    assert not checkpoints.is_externalized_checkpoints_enabled()


def test_settings_of_checkpoints_are_read_back(env: StreamExecutionEnvironment) -> None:
    checkpoints = env.get_checkpoint_config()
    checkpoints.set_checkpoint_interval(500).set_checkpoint_timeout(60_000)
    checkpoints.set_min_pause_between_checkpoints(5).set_max_concurrent_checkpoints(2)
    checkpoints.set_tolerable_checkpoint_failure_number(3).enable_unaligned_checkpoints()
    checkpoints.set_aligned_checkpoint_timeout(Duration.of_seconds(1))
    checkpoints.set_externalized_checkpoint_retention(
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION
    )
    assert env.get_checkpoint_interval() == 500
    assert checkpoints.get_checkpoint_timeout() == 60_000
    assert checkpoints.get_min_pause_between_checkpoints() == 5
    assert checkpoints.get_max_concurrent_checkpoints() == 2
    assert not checkpoints.is_fail_on_checkpointing_errors()
    assert env.is_unaligned_checkpoints_enabled()
    assert checkpoints.get_aligned_checkpoint_timeout() == Duration.of_seconds(1)
    assert checkpoints.is_externalized_checkpoints_enabled()
    with pytest.raises(ValueError, match="must be positive"):
        checkpoints.set_checkpoint_interval(0)


def test_the_execution_config_is_read_back(env: StreamExecutionEnvironment) -> None:
    config = env.get_config()
    config.set_global_job_parameters({"threshold": 5})
    assert config.get_global_job_parameters() == {"threshold": "5"}
    config.enable_object_reuse().disable_closure_cleaner().set_auto_watermark_interval(50)
    assert (config.is_object_reuse_enabled(), config.is_closure_cleaner_enabled()) == (True, False)
    assert config.get_auto_watermark_interval() == 50
    with pytest.raises(ValueError, match="parallelism must be positive"):
        config.set_parallelism(0)


def test_configurations_hold_every_kind_of_value() -> None:
    values = Configuration()
    values.set_integer("i", 5).set_float("f", 0.5).set_boolean("b", True)
    values.set_bytearray("y", bytearray(b"\x00a"))
    assert (values.get_integer("i", 0), values.get_float("f", 0.0)) == (5, 0.5)
    assert (values.get_boolean("b", False), values.get_boolean("c", True)) == (True, True)
    assert values.get_bytearray("y", bytearray()) == bytearray(b"\x00a")
    assert values.key_set() == {"i", "f", "b", "y"}
    assert values.remove_config("i") and not values.remove_config("i")
    more = Configuration({"k": "v"})
    values.add_all(more, "prefix.")
    assert values.get_string("prefix.k", "") == "v"
    assert Configuration.parse_list_value("[a, 'b']") == ["a", "b"]
    assert Configuration.parse_list_value("a;b") == ["a", "b"]
    option = ConfigOptions.key("x").int_type().default_value(1)
    assert (option.key, option.default) == ("x", 1)


def test_states_of_a_job() -> None:
    assert JobStatus.SUSPENDED.is_terminal_state()
    assert not JobStatus.SUSPENDED.is_globally_terminal_state()
    assert [s for s in JobStatus if s.is_globally_terminal_state()] == [
        JobStatus.FAILED,
        JobStatus.CANCELED,
        JobStatus.FINISHED,
    ]


def test_slot_sharing_groups_are_kept(env: StreamExecutionEnvironment) -> None:
    group = (
        SlotSharingGroup.builder("heavy").set_cpu_cores(2.0).set_task_heap_memory_mb(512).build()
    )
    env.register_slot_sharing_group(group)
    stream = env.from_elements(1).slot_sharing_group(group)
    assert stream._node.slot_sharing_group == "heavy"
    memory = group.get_task_heap_memory()
    assert memory is not None
    assert (memory.get_mebi_bytes(), memory.get_bytes()) == (512, 512 << 20)


def test_python_files_are_on_the_path_of_functions(
    env: StreamExecutionEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("PYTHONPATH", "")
    (tmp_path / "adding_two.py").write_text("def add_two(a):\n    return a + 2\n")

    def plus_two(value: int) -> Any:
        from adding_two import add_two  # type: ignore[import-not-found]

        return add_two(value)

    env.add_python_file(str(tmp_path / "adding_two.py"))
    assert list(env.from_elements(1).map(plus_two).execute_and_collect()) == [3]
    with pytest.raises(FileNotFoundError):
        env.add_python_file(str(tmp_path / "none.py"))


def test_requirements_must_be_installed(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# what it needs\npyarrow>=18\n")
    env.set_python_requirements(str(requirements))
    requirements.write_text("pyarrow\nno-such-package==1.0\n")
    with pytest.raises(ModuleNotFoundError, match=r"no-such-package of .*pip install -r"):
        env.set_python_requirements(str(requirements))
    env.set_python_executable(sys.executable)
    with pytest.raises(NotImplementedError, match="the driver's Python"):
        env.set_python_executable("/opt/other/bin/python")


def test_flinks_own_jars_are_left_out(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    (tmp_path / "own.jar").touch()
    env.add_jars("file:///no/flink-sql-connector-kafka.jar", f"file://{tmp_path}/own.jar")
    assert env._files.jars == [str(tmp_path / "own.jar")]


def test_files_of_text_are_written_as_values_print(
    env: StreamExecutionEnvironment, tmp_path: Path
) -> None:
    def written(type_info: Any) -> list[str]:
        folder = tmp_path / str(type_info)
        builder = FileSink.for_row_format(str(folder), Encoder.simple_string_encoder())
        builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        env.from_collection([("a", 1.5, None)], type_info).sink_to(builder.build())
        env.execute()
        return [path.read_text() for path in folder.iterdir() if path.is_file()]

    pair = Types.TUPLE([Types.STRING(), Types.FLOAT(), Types.INT()])
    assert written(pair) == ["(a,1.5,null)\n"]
    assert written(None) == ["('a', 1.5, None)\n"]


def test_a_result_tells_of_itself(env: StreamExecutionEnvironment) -> None:
    env.from_elements(1).add_sink(lambda _: None)
    result = env.execute()
    assert f"Job with JobID {result.get_job_id()} has finished." in str(result)
    assert result.get_accumulator_result("none") is None

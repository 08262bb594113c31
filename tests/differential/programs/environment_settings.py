"""What an environment answers about itself."""

# runs: whole 1
# order: all
from pyflink.common import Configuration, Types
from pyflink.datastream import (
    CheckpointingMode,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)


def main():
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    env.set_parallelism(3).set_max_parallelism(12)
    print(
        env.get_parallelism(),
        env.get_max_parallelism(),
        env.is_chaining_enabled(),
        env.get_buffer_timeout(),
    )
    env.disable_operator_chaining()
    env.set_buffer_timeout(7)
    print(env.is_chaining_enabled(), env.get_buffer_timeout())
    print(
        env.get_checkpoint_interval(),
        env.get_checkpointing_mode(),
        env.get_checkpoint_config().is_checkpointing_enabled(),
    )
    env.enable_checkpointing(3000, CheckpointingMode.AT_LEAST_ONCE)
    print(env.get_checkpoint_interval(), env.get_checkpointing_mode())
    checkpoints = env.get_checkpoint_config()
    print(
        checkpoints.get_checkpoint_timeout(),
        checkpoints.get_min_pause_between_checkpoints(),
        checkpoints.get_max_concurrent_checkpoints(),
    )
    checkpoints.set_checkpoint_timeout(20000)
    checkpoints.set_min_pause_between_checkpoints(500)
    checkpoints.set_max_concurrent_checkpoints(1)
    checkpoints.set_tolerable_checkpoint_failure_number(2)
    checkpoints.enable_unaligned_checkpoints()
    print(
        checkpoints.get_checkpoint_timeout(),
        checkpoints.get_min_pause_between_checkpoints(),
        checkpoints.get_tolerable_checkpoint_failure_number(),
    )
    print(
        env.is_unaligned_checkpoints_enabled(),
        env.is_force_unaligned_checkpoints(),
        checkpoints.is_externalized_checkpoints_enabled(),
    )
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    config = env.get_config()
    print(
        config.get_parallelism(),
        config.get_max_parallelism(),
        config.is_object_reuse_enabled(),
        config.get_global_job_parameters(),
    )
    config.enable_object_reuse().set_global_job_parameters({"a": "1"})
    config.set_auto_watermark_interval(123)
    print(
        config.is_object_reuse_enabled(),
        config.get_global_job_parameters(),
        config.get_auto_watermark_interval(),
    )
    mapped = env.from_collection([1], Types.INT()).map(str, Types.STRING()).name("Named")
    print(
        mapped.get_name(), mapped.get_type(), mapped.get_execution_environment().get_parallelism()
    )
    print(mapped.get_execution_config().get_parallelism())


if __name__ == "__main__":
    main()

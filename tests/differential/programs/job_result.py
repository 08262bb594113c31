"""What execute gives back, and job names."""

# runs: whole 1
from pyflink.common import JobStatus, Types
from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1], Types.INT()).map(lambda n: n).print()
    result = env.execute("named")
    print(
        result.get_net_runtime() >= 0,
        len(str(result.get_job_id())),
        result.get_all_accumulator_results(),
    )
    env.from_collection([2], Types.INT()).print()
    client = env.execute_async("beside")
    print(client.get_job_execution_result().result().get_net_runtime() >= 0)
    print(len(str(client.get_job_id())))
    print(JobStatus.FINISHED.is_terminal_state(), JobStatus.RUNNING.is_globally_terminal_state())


if __name__ == "__main__":
    main()

"""What rich functions learn from their RuntimeContext."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment


class Context(MapFunction):
    def open(self, runtime_context):
        self.said = (
            runtime_context.get_number_of_parallel_subtasks(),
            runtime_context.get_attempt_number(),
            0
            <= runtime_context.get_index_of_this_subtask()
            < runtime_context.get_number_of_parallel_subtasks(),
            runtime_context.get_job_parameter("color", "none"),
            runtime_context.get_job_parameter("size", "none"),
        )

    def map(self, value):
        return self.said


class Keyed(KeyedProcessFunction):
    def open(self, runtime_context):
        self.subtasks = runtime_context.get_number_of_parallel_subtasks()
        self.most = runtime_context.get_max_number_of_parallel_subtasks()

    def process_element(self, value, ctx):
        yield self.subtasks, self.most, ctx.get_current_key()


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_max_parallelism(64)
    env.get_config().set_global_job_parameters({"color": "blue"})
    numbers = env.from_collection([1, 2, 3], Types.INT())
    numbers.map(Context()).print("map")
    numbers.key_by(lambda n: n % 2).process(Keyed()).print("keyed")
    env.execute()


if __name__ == "__main__":
    main()

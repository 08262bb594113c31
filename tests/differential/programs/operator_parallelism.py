"""An operator's own parallelism, as its functions see it."""

# runs: whole 2
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Subtasks(MapFunction):
    def open(self, runtime_context):
        self.subtasks = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value):
        return self.subtasks


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1, 2], Types.INT()).map(Subtasks()).set_parallelism(1).print()
    env.execute()


if __name__ == "__main__":
    main()

"""Task names in the RuntimeContext."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Name(MapFunction):
    def open(self, runtime_context):
        self.name = runtime_context.get_task_name()
        self.full = runtime_context.get_task_name_with_subtasks()

    def map(self, value):
        return self.name, self.full


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection([1], Types.INT())
    numbers.map(Name()).name("Mine").disable_chaining().print()
    env.execute()


if __name__ == "__main__":
    main()

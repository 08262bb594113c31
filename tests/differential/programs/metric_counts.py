"""What counters of functions count."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Counted(MapFunction):
    def open(self, runtime_context):
        self.counter = runtime_context.get_metrics_group().counter("counter")

    def map(self, value):
        self.counter.inc(value)
        return self.counter.get_count()


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1, 2, 3], Types.INT()).map(Counted()).print()
    env.execute()


if __name__ == "__main__":
    main()

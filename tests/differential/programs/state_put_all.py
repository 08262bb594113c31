"""put_all of a map state with a dict."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor


class Put(KeyedProcessFunction):
    def open(self, runtime_context):
        self.map = runtime_context.get_map_state(
            MapStateDescriptor("map", Types.INT(), Types.INT())
        )

    def process_element(self, value, ctx):
        self.map.put_all({value: value, value + 1: value})
        yield sorted(self.map.items())


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1, 2], Types.INT()).key_by(lambda n: 0).process(Put()).print()
    env.execute()


if __name__ == "__main__":
    main()

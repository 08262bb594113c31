"""State whose time to live has passed and that was not cleaned up: returned if asked for."""

# runs: each 1
# order: key
import time

from pyflink.common import Configuration, Time, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor

PAIRS = [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 5)]


class Kept(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("value", Types.INT())
        descriptor.enable_time_to_live(
            StateTtlConfig.new_builder(Time.milliseconds(20))
            .return_expired_if_not_cleaned_up()
            .disable_cleanup_in_background()
            .build()
        )
        self.value = runtime_context.get_state(descriptor)

    def process_element(self, value, ctx):
        yield value[0], value[1], self.value.value(), self.value.value()
        self.value.update(value[1])
        time.sleep(0.1)


def main():
    configuration = Configuration()
    configuration.set_integer("python.state.cache-size", 0)  # else PyFlink does not see it expire
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    pairs = env.from_collection(PAIRS, Types.TUPLE([Types.STRING(), Types.INT()]))
    pairs.key_by(lambda p: p[0]).process(Kept()).print()
    env.execute()


if __name__ == "__main__":
    main()

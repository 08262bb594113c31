"""State with a time to live that does not pass: values, lists, maps, settings."""

# runs: whole 1
# order: key
from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

PAIRS = [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 1)]


def hour():
    return (
        StateTtlConfig.new_builder(Time.hours(1))
        .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
        .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
        .cleanup_full_snapshot()
        .build()
    )


class Kept(KeyedProcessFunction):
    def open(self, runtime_context):
        value = ValueStateDescriptor("value", Types.INT())
        listed = ListStateDescriptor("list", Types.INT())
        mapped = MapStateDescriptor("map", Types.INT(), Types.INT())
        for each in (value, listed, mapped):
            each.enable_time_to_live(hour())
        self.value = runtime_context.get_state(value)
        self.list = runtime_context.get_list_state(listed)
        self.map = runtime_context.get_map_state(mapped)

    def process_element(self, value, ctx):
        self.value.update((self.value.value() or 0) + value[1])
        self.list.add(value[1])
        self.map.put(value[1], value[1] ** 2)
        yield value[0], self.value.value(), list(self.list.get()), sorted(self.map.items())


def main():
    config = hour()
    print(config.get_ttl().to_milliseconds(), config.is_enabled(), config.get_update_type().name)
    print(config.get_state_visibility().name, config.get_ttl_time_characteristic().name)
    env = StreamExecutionEnvironment.get_execution_environment()
    pairs = env.from_collection(PAIRS, Types.TUPLE([Types.STRING(), Types.INT()]))
    pairs.key_by(lambda p: p[0]).process(Kept()).print()
    env.execute()


if __name__ == "__main__":
    main()

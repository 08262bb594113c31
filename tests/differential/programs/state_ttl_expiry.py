"""State whose time to live passes, of every kind: what is read then, and what is added to it."""

# runs: each 1
# order: key
import time

from pyflink.common import Configuration, Time, Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

PAIRS = [("a", 1), ("b", 2), ("a", 3)]
UPDATES = StateTtlConfig.UpdateType
VISIBLE = StateTtlConfig.StateVisibility


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Kept(KeyedProcessFunction):
    """What an element leaves is dead when the next one comes if it is to live for a `pause`."""

    def __init__(self, time_to_live, update, visibility, pause=0):
        self.pause = pause
        self.config = (
            StateTtlConfig.new_builder(time_to_live)
            .set_update_type(update)
            .set_state_visibility(visibility)
            .build()
        )

    def open(self, runtime_context):
        def described(kind, *types):
            descriptor = kind(kind.__name__, *types)
            descriptor.enable_time_to_live(self.config)
            return descriptor

        number = Types.INT()
        self.value = runtime_context.get_state(described(ValueStateDescriptor, number))
        self.list = runtime_context.get_list_state(described(ListStateDescriptor, number))
        self.map = runtime_context.get_map_state(described(MapStateDescriptor, number, number))
        self.reducing = runtime_context.get_reducing_state(
            described(ReducingStateDescriptor, lambda x, y: x + y, number)
        )
        self.aggregating = runtime_context.get_aggregating_state(
            described(AggregatingStateDescriptor, Sum(), number)
        )

    def process_element(self, value, ctx):
        number = value[1]
        yield value[0], number, "before", *self.seen()
        self.value.update((self.value.value() or 0) + number)
        for state in (self.list, self.reducing, self.aggregating):
            state.add(number)
        self.map.put(number, number)
        yield value[0], number, "behind", *self.seen()
        time.sleep(self.pause)

    def seen(self):
        return (
            self.value.value(),
            list(self.list.get() or []),
            sorted(self.map.items()),
            self.map.contains(1),
            self.map.is_empty(),
            self.reducing.get(),
            self.aggregating.get(),
        )


def main():
    passing, lasting = Time.seconds(2), Time.hours(1)
    configuration = Configuration()
    configuration.set_integer("python.state.cache-size", 0)  # else PyFlink does not see it expire
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    pairs = env.from_collection(PAIRS, Types.TUPLE([Types.STRING(), Types.INT()]))
    keyed = pairs.key_by(lambda p: p[0])
    for update in (UPDATES.OnCreateAndWrite, UPDATES.OnReadAndWrite):
        function = Kept(passing, update, VISIBLE.NeverReturnExpired, pause=3)
        keyed.process(function).print(f"passing {update.name}")
        function = Kept(lasting, update, VISIBLE.ReturnExpiredIfNotCleanedUp)
        keyed.process(function).print(f"lasting {update.name}")
    function = Kept(passing, UPDATES.Disabled, VISIBLE.NeverReturnExpired)
    keyed.process(function).print("disabled")
    env.execute()


if __name__ == "__main__":
    main()

"""State of windows and of keys in a process window function, and its clear."""

# runs: each 1, whole 1
# order: key
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import CountTrigger, TumblingEventTimeWindows

EVENTS = [
    ("a", 1, 100),
    ("a", 2, 900),
    ("b", 3, 1000),
    ("a", 4, 1700),
    ("a", 5, 2500),
    ("b", 6, 2600),
    ("a", 7, 3900),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Fired(ProcessWindowFunction):
    """How often this window has fired, and how often any of the key."""

    def __init__(self):
        self.here = ValueStateDescriptor("here", Types.INT())
        self.all = ValueStateDescriptor("all", Types.INT())
        self.seen = ListStateDescriptor("seen", Types.INT())

    def process(self, key, context, elements):
        here = context.window_state().get_state(self.here)
        every = context.global_state().get_state(self.all)
        seen = context.global_state().get_list_state(self.seen)
        here.update((here.value() or 0) + 1)
        every.update((every.value() or 0) + 1)
        seen.add(max(each[1] for each in elements))
        yield key, context.window().start, here.value(), every.value(), list(seen.get())

    def clear(self, context):
        context.window_state().get_state(self.here).clear()


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    keyed = (
        env.from_collection(EVENTS, triple)
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByThird())
        )
        .key_by(lambda e: e[0])
    )
    windows = keyed.window(TumblingEventTimeWindows.of(Time.seconds(2)))
    windows.process(Fired()).print("once")
    windows = keyed.window(TumblingEventTimeWindows.of(Time.seconds(2)))
    windows.trigger(CountTrigger.of(1)).process(Fired()).print("each")
    env.execute()


if __name__ == "__main__":
    main()

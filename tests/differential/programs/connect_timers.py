"""Timers of connected keyed streams."""

# runs: whole 1
# order: key
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

EVENTS = [("a", 1, 100), ("b", 2, 200), ("a", 3, 300), ("b", 4, 50), ("a", 6, 700)]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Sorted(KeyedCoProcessFunction):
    """Both sides' elements, in order of time."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(
            MapStateDescriptor("seen", Types.LONG(), Types.STRING())
        )

    def take(self, side, value, ctx):
        self.seen.put(value[2], f"{side} {value[1]}")
        ctx.timer_service().register_event_time_timer(value[2])

    def process_element1(self, value, ctx):
        self.take("odd", value, ctx)

    def process_element2(self, value, ctx):
        self.take("even", value, ctx)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.seen.get(timestamp), ctx.time_domain().name


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    events = env.from_collection(EVENTS, triple).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_bounded_out_of_orderness(
            Duration.of_millis(0)
        ).with_timestamp_assigner(ByThird())
    )
    odd, even = events.filter(lambda e: e[1] % 2), events.filter(lambda e: e[1] % 2 == 0)
    both = odd.connect(even).key_by(lambda e: e[0], lambda e: e[0], Types.STRING())
    both.process(Sorted()).print()
    env.execute()


if __name__ == "__main__":
    main()

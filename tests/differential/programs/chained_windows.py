"""Windows behind windows, and keyed functions behind each other: timestamps of results."""

# runs: each 1, whole 1, whole 2
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows

EVENTS = [
    ("a", 1, 0),
    ("b", 2, 500),
    ("a", 3, 999),
    ("c", 4, 1000),
    ("b", 5, 2500),
    ("a", 6, 2999),
    ("b", 7, 5000),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


class Delay(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 100)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    events = env.from_collection(EVENTS, triple).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_bounded_out_of_orderness(
            Duration.of_millis(0)
        ).with_timestamp_assigner(ByThird())
    )
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    first = (
        events.map(lambda e: (e[0], e[1]), pair)
        .key_by(lambda e: e[0])
        .window(TumblingEventTimeWindows.of(Time.seconds(1)))
        .reduce(lambda x, y: (x[0], x[1] + y[1]))
    )
    first.process(Stamp()).print("first")
    second = (
        first.key_by(lambda e: 0)
        .window(TumblingEventTimeWindows.of(Time.seconds(3)))
        .reduce(lambda x, y: ("all", x[1] + y[1]))
    )
    second.map(lambda e: e[1]).process(Stamp()).print("second")
    sliding = first.window_all(SlidingEventTimeWindows.of(Time.seconds(2), Time.seconds(1)))
    sliding.reduce(lambda x, y: ("all", x[1] + y[1])).map(lambda e: e[1]).process(Stamp()).print(
        "all"
    )
    events.key_by(lambda e: e[0]).process(Delay()).process(Stamp()).print("delay")
    delayed = events.key_by(lambda e: e[0]).process(Delay()).key_by(lambda e: e[0])
    delayed.window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(
        lambda x, y: max(x, y)
    ).print("windowed delay")
    events.filter(lambda e: e[1] > 2).process(Stamp()).print("filter")
    events.key_by(lambda e: e[0]).map(lambda e: e[1]).process(Stamp()).print("keyed map")
    env.execute()


if __name__ == "__main__":
    main()

"""Late records of windows of several kinds, behind each other, and what is made of them."""

# runs: each 1
# order: key
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    KeyedProcessFunction,
    OutputTag,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

EVENTS = [
    ("a", 1, 100),
    ("b", 2, 1200),
    ("a", 3, 2300),
    ("a", 4, 400),
    ("b", 5, 1900),
    ("b", 6, 4500),
    ("a", 7, 2900),
    ("a", 8, 3100),
    ("b", 9, 800),
    ("b", 10, 8000),
    ("a", 11, 6900),
    ("a", 12, 7100),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Sum(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, sum(each[1] for each in elements), context.window().max_timestamp()


class SumOfAll(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield "all", sum(each[1] for each in elements), context.window().max_timestamp()


class ByWatermark(KeyedProcessFunction):
    """Late by what a function itself sees of time."""

    def process_element(self, value, ctx):
        watermark = ctx.timer_service().current_watermark()
        if value[2] <= watermark:
            yield late(), (value[0], value[1], watermark)
        else:
            yield value


def triple():
    return Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])


def late():
    return OutputTag("late", triple())


def seconds(number):
    return Time.seconds(number)


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    events = env.from_collection(EVENTS, triple()).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_bounded_out_of_orderness(
            Duration.of_millis(300)
        ).with_timestamp_assigner(ByThird())
    )
    keyed = events.key_by(lambda e: e[0])
    first = keyed.window(TumblingEventTimeWindows.of(seconds(1)))
    first = first.side_output_late_data(late()).process(Sum(), triple())
    second = first.key_by(lambda e: e[0]).window(TumblingEventTimeWindows.of(seconds(2)))
    second = second.side_output_late_data(late()).process(Sum(), triple())
    again = first.get_side_output(late()).key_by(lambda e: e[0])
    again = again.window(EventTimeSessionWindows.with_gap(seconds(1))).allowed_lateness(10_000)
    sliding = keyed.window(SlidingEventTimeWindows.of(seconds(3), seconds(1)))
    sliding = sliding.side_output_late_data(late()).process(Sum(), triple())
    everything = events.window_all(TumblingEventTimeWindows.of(seconds(1)))
    everything = everything.allowed_lateness(1000).side_output_late_data(late())
    everything = everything.process(SumOfAll(), triple())
    again.process(Sum(), triple()).print("late ones again")
    named = {"first": first, "second": second, "sliding": sliding, "all": everything}
    for name, stream in named.items():
        stream.print(name)
        stream.get_side_output(late()).map(lambda e: (e[0], -e[1], e[2]), triple()).print(
            f"late for {name}"
        )
    seen = keyed.process(ByWatermark(), triple())
    seen.print("in time")
    seen.get_side_output(late()).print("behind the watermark")
    env.execute()


if __name__ == "__main__":
    main()

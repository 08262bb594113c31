"""Late records: dropped, taken within the allowed lateness, or to a side output."""

# runs: each 1
# order: key
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

EVENTS = [
    ("a", 1, 100),
    ("a", 2, 1200),
    ("a", 3, 900),
    ("b", 1, 999),
    ("a", 4, 2600),
    ("a", 5, 1100),
    ("a", 6, 50),
    ("b", 2, 1000),
    ("b", 3, 5000),
    ("a", 7, 2700),
    ("a", 8, 3100),
    ("a", 9, 4900),
    ("b", 4, 9000),
    ("a", 10, 8000),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield (
            key,
            window.start,
            window.end,
            sorted(e[1] for e in elements),
            context.current_watermark(),
        )


def late():
    return OutputTag("late", Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()]))


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
    tumbling = TumblingEventTimeWindows.of(Time.seconds(1))
    keyed.window(tumbling).process(Span()).print("dropped")
    kept = keyed.window(tumbling).side_output_late_data(late()).process(Span())
    allowed = keyed.window(tumbling).allowed_lateness(1500).side_output_late_data(late())
    allowed = allowed.process(Span())
    sliding = keyed.window(SlidingEventTimeWindows.of(Time.seconds(2), Time.seconds(1)))
    sliding = sliding.allowed_lateness(500).side_output_late_data(late()).process(Span())
    sessions = keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(800)))
    sessions = sessions.allowed_lateness(1000).side_output_late_data(late()).process(Span())
    reduced = keyed.window(tumbling).allowed_lateness(3000)
    reduced.reduce(lambda x, y: (x[0], x[1] + y[1], y[2])).print("reduced")
    results = {"kept": kept, "allowed": allowed, "sliding": sliding, "sessions": sessions}
    for name, stream in results.items():
        stream.print(name)
        stream.get_side_output(late()).print(f"late for {name}")
    env.execute()


if __name__ == "__main__":
    main()

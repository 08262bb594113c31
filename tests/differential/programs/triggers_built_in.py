"""The triggers that come with Flink, purging and not, on windows of every kind."""

# runs: each 1, whole 1
# order: key
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

EVENTS = [
    ("a", 1, 100),
    ("a", 2, 900),
    ("b", 3, 1000),
    ("a", 4, 1700),
    ("a", 5, 2500),
    ("b", 6, 2600),
    ("a", 7, 3900),
    ("a", 8, 4100),
    ("b", 9, 6500),
    ("a", 10, 7000),
    ("a", 11, 6900),
    ("b", 12, 12000),
    ("a", 13, 12100),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Numbers(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, [each[1] for each in elements]


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, [each[1] for each in elements]


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    keyed = (
        env.from_collection(EVENTS, triple)
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_bounded_out_of_orderness(
                Duration.of_millis(300)
            ).with_timestamp_assigner(ByThird())
        )
        .key_by(lambda e: e[0])
    )
    tumbling = TumblingEventTimeWindows.of(Time.seconds(4))
    sliding = SlidingEventTimeWindows.of(Time.seconds(4), Time.seconds(2))
    sessions = EventTimeSessionWindows.with_gap(Time.seconds(2))
    keyed.window(tumbling).trigger(EventTimeTrigger.create()).process(Span()).print("event time")
    keyed.window(tumbling).trigger(CountTrigger.of(2)).process(Span()).print("count")
    keyed.window(tumbling).trigger(PurgingTrigger.of(CountTrigger.of(2))).process(Span()).print(
        "purging count"
    )
    keyed.window(sliding).trigger(PurgingTrigger.of(CountTrigger.of(3))).process(Span()).print(
        "sliding count"
    )
    keyed.window(sessions).trigger(CountTrigger.of(2)).process(Span()).print("session count")
    keyed.window(sessions).trigger(PurgingTrigger.of(EventTimeTrigger.create())).process(
        Span()
    ).print("purging sessions")
    keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(3)).process(Numbers()).print(
        "global"
    )
    keyed.window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(3))).process(
        Numbers()
    ).print("purging global")
    keyed.window(GlobalWindows.create()).process(Numbers()).print("never")
    env.execute()


if __name__ == "__main__":
    main()

"""The continuous trigger, watermark by watermark."""

# runs: each 1
# order: key
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    EventTimeSessionWindows,
    PurgingTrigger,
    TumblingEventTimeWindows,
)

EVENTS = [(key, n, n * 400 + 100) for n in range(24) for key in ("a", "b" if n % 3 else "a")]
EVENTS += [("a", 90, 11200), ("a", 91, 30600), ("b", 92, 30700), ("a", 93, 31500), ("b", 94, 31600)]


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
                Duration.of_millis(0)
            ).with_timestamp_assigner(ByThird())
        )
        .key_by(lambda e: e[0])
    )
    tumbling = TumblingEventTimeWindows.of(Time.seconds(4))
    sessions = EventTimeSessionWindows.with_gap(Time.milliseconds(900))
    second = Time.seconds(1)
    keyed.window(tumbling).trigger(ContinuousEventTimeTrigger.of(second)).process(Span()).print(
        "continuous"
    )
    keyed.window(tumbling).trigger(
        PurgingTrigger.of(ContinuousEventTimeTrigger.of(second))
    ).process(Span()).print("purging continuous")
    keyed.window(sessions).trigger(ContinuousEventTimeTrigger.of(second)).process(Span()).print(
        "continuous sessions"
    )
    env.execute()


if __name__ == "__main__":
    main()

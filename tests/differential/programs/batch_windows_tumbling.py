"""BATCH mode: windows of one key, with lateness, triggers and side outputs: nothing is late."""

# runs: whole 1
# order: key
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    OutputTag,
    ProcessWindowFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from pyflink.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

EVENTS = [("a", 1, 9000), ("a", 3, 100), ("a", 4, 1000), ("a", 6, 50), ("a", 7, 9500)]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, sorted(each[1] for each in elements)


def late():
    return OutputTag("late", Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()]))


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
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
    second = Time.seconds(1)
    windows = {
        "tumbling": TumblingEventTimeWindows.of(second),
        "sliding": SlidingEventTimeWindows.of(Time.seconds(2), second),
        "session": EventTimeSessionWindows.with_gap(second),
    }
    for name, assigner in windows.items():
        made = keyed.window(assigner).side_output_late_data(late()).process(Span())
        made.print(name)
        made.get_side_output(late()).print(f"late for {name}")
    counted = keyed.window(windows["tumbling"]).trigger(PurgingTrigger.of(CountTrigger.of(2)))
    counted.process(Span()).print("counted")
    env.execute()


if __name__ == "__main__":
    main()

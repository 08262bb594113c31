"""BATCH mode: windows, whatever the order of records; no late ones."""

# runs: whole 1
# order: key
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    ProcessWindowFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from pyflink.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows

EVENTS = [
    ("a", 1, 9000),
    ("b", 2, 500),
    ("a", 3, 100),
    ("a", 4, 1000),
    ("b", 5, 2500),
    ("a", 6, 50),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(e[1] for e in elements)


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
    keyed.window(TumblingEventTimeWindows.of(Time.seconds(1))).process(Span()).print("tumbling")
    keyed.window(EventTimeSessionWindows.with_gap(Time.seconds(2))).process(Span()).print(
        "sessions"
    )
    env.execute()


if __name__ == "__main__":
    main()

"""Tumbling event-time windows with every kind of function."""

# runs: each 1, whole 1, whole 2
# order: key
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from pyflink.datastream.window import TumblingEventTimeWindows

EVENTS = [
    ("a", 1, 0),
    ("b", 2, 500),
    ("a", 3, 999),
    ("a", 4, 1000),
    ("b", 5, 2500),
    ("a", 6, 2999),
    ("b", 7, 5000),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Total(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield (
            key,
            window.start,
            window.end,
            sorted(str(e) for e in elements),
            window.max_timestamp(),
        )


class Apply(WindowFunction):
    def apply(self, key, window, inputs):
        for each in sorted(inputs):
            yield key, window.start, window.end, each[1]


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    events = env.from_collection(EVENTS, triple).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_bounded_out_of_orderness(
            Duration.of_millis(200)
        ).with_timestamp_assigner(ByThird())
    )
    keyed = events.key_by(lambda e: e[0], Types.STRING())

    def windows(offset=0):
        return keyed.window(TumblingEventTimeWindows.of(Time.seconds(1), Time.milliseconds(offset)))

    windows().reduce(lambda a, b: (a[0], a[1] + b[1], max(a[2], b[2]))).print("reduce")
    windows(300).reduce(lambda a, b: (a[0], a[1] + b[1], max(a[2], b[2])), Span()).print(
        "reduce-process"
    )
    windows().aggregate(Total(), output_type=Types.DOUBLE()).print("aggregate")
    windows(-100).aggregate(Total(), Span()).print("aggregate-process")
    windows().process(Span()).print("process")
    windows().apply(
        Apply(), Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG(), Types.INT()])
    ).print("apply")
    env.execute()


if __name__ == "__main__":
    main()

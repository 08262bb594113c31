"""window_all with every kind of function."""

# runs: each 1, whole 1, whole 2
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from pyflink.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    TumblingEventTimeWindows,
)

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


class Span(ProcessAllWindowFunction):
    def process(self, context, elements):
        window = context.window()
        yield window.start, window.end, sorted(str(e) for e in elements)


class Count(AllWindowFunction):
    def apply(self, window, inputs):
        yield window.end, len(list(inputs))


class Total(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Size(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield len(list(elements))


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    events = env.from_collection(EVENTS, triple).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_bounded_out_of_orderness(
            Duration.of_millis(100)
        ).with_timestamp_assigner(ByThird())
    )
    tumbling = TumblingEventTimeWindows.of(Time.seconds(1))
    events.window_all(tumbling).process(Span()).print("process")
    events.window_all(tumbling).apply(Count(), Types.TUPLE([Types.LONG(), Types.INT()])).print(
        "apply"
    )
    events.window_all(tumbling).aggregate(Total(), output_type=Types.INT()).print("aggregate")
    events.window_all(tumbling).aggregate(Total(), Span()).print("aggregate-process")
    events.window_all(tumbling).reduce(lambda x, y: ("all", x[1] + y[1], 0)).map(
        lambda v: v[1]
    ).print("reduce")
    events.window_all(EventTimeSessionWindows.with_gap(Time.milliseconds(600))).process(
        Span()
    ).print("session")
    by_count = PurgingTrigger.of(CountTrigger.of(3))
    events.window_all(GlobalWindows.create()).trigger(by_count).process(Size()).print("global")
    env.execute()


if __name__ == "__main__":
    main()

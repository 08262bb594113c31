"""Sessions that late records make one, with accumulators of several kinds, and what is too late."""

# runs: each 1, whole 1
# order: key
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    OutputTag,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.window import EventTimeSessionWindows

EVENTS = [
    ("a", 1, 0),
    ("a", 2, 900),
    ("b", 3, 1000),
    ("a", 4, 1700),
    ("b", 5, 1900),
    ("a", 6, 5000),
    ("a", 7, 4300),
    ("b", 8, 2800),
    ("b", 9, 9000),
    ("a", 10, 5600),
    ("a", 11, 100),
    ("b", 12, 3000),
    ("a", 13, 8400),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Mean(AggregateFunction):
    def create_accumulator(self):
        return {"count": 0, "sum": 0, "first": None}

    def add(self, value, accumulator):
        first = accumulator["first"]
        return {
            "count": accumulator["count"] + 1,
            "sum": accumulator["sum"] + value[1],
            "first": value[2] if first is None else min(first, value[2]),
        }

    def get_result(self, accumulator):
        return accumulator["sum"] / accumulator["count"], accumulator["first"]

    def merge(self, a, b):
        return {
            "count": a["count"] + b["count"],
            "sum": a["sum"] + b["sum"],
            "first": min(a["first"], b["first"]),
        }


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, sorted(str(each) for each in elements)


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
    sessions = keyed.window(EventTimeSessionWindows.with_gap(Time.seconds(1)))
    sessions = sessions.allowed_lateness(2000).side_output_late_data(late())
    results = {
        "mean": sessions.aggregate(Mean(), Span()),
        "sum": sessions.reduce(lambda x, y: (x[0], x[1] + y[1], min(x[2], y[2])), Span()),
        "all": sessions.process(Span()),
    }
    for name, stream in results.items():
        stream.print(name)
        stream.get_side_output(late()).print(f"late for {name}")
    env.execute()


if __name__ == "__main__":
    main()

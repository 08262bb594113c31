"""Sliding event-time windows, with offsets and gaps between them."""

# runs: each 1, whole 1, whole 2
# order: key
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import SlidingEventTimeWindows

EVENTS = [
    ("a", 1, 100),
    ("a", 2, 1100),
    ("b", 3, 1500),
    ("a", 4, 1900),
    ("b", 5, 4000),
    ("a", 6, -700),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, sorted(e[1] for e in elements)


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    keyed = (
        env.from_collection(EVENTS, triple)
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_bounded_out_of_orderness(
                Duration.of_seconds(10)
            ).with_timestamp_assigner(ByThird())
        )
        .key_by(lambda e: e[0])
    )

    def windows(size, slide, offset=0):
        times = (Time.milliseconds(each) for each in (size, slide, offset))
        return keyed.window(SlidingEventTimeWindows.of(*times))

    windows(2000, 1000).process(Span()).print("overlapping")
    windows(2000, 700).process(Span()).print("uneven")
    windows(500, 1000).process(Span()).print("gaps")
    windows(2000, 1000, 250).process(Span()).print("offset")
    windows(3000, 1000).reduce(lambda x, y: (x[0], x[1] + y[1], 0)).print("reduce")
    env.execute()


if __name__ == "__main__":
    main()

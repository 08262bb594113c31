"""Session windows that merge, with fixed and dynamic gaps."""

# runs: each 1, whole 1, whole 2
# order: key
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor

EVENTS = [
    ("a", 1, 0),
    ("a", 2, 3000),
    ("b", 1, 3500),
    ("a", 3, 1500),
    ("b", 5, 5499),
    ("a", 1, 9000),
    ("a", 9, 20000),
    ("b", 2, 7498),
    ("a", 1, 22000),
    ("a", 1, 18100),
    ("b", 1, 30000),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[1] * 1000


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, sorted(str(e) for e in elements)


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    keyed = (
        env.from_collection(EVENTS, triple)
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_bounded_out_of_orderness(
                Duration.of_seconds(4)
            ).with_timestamp_assigner(ByThird())
        )
        .key_by(lambda e: e[0])
    )
    fixed = EventTimeSessionWindows.with_gap(Time.seconds(2))
    keyed.window(fixed).process(Span()).print("process")
    keyed.window(EventTimeSessionWindows.with_dynamic_gap(Gap())).process(Span()).print("dynamic")
    env.execute()


if __name__ == "__main__":
    main()

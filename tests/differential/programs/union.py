"""Unions: several streams, a stream with itself, behind keys; the watermarks of their inputs."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().end, sorted(e[1] for e in elements)


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    one = env.from_collection([1, 2], Types.INT())
    two = env.from_collection([3], Types.INT())
    three = env.from_collection([4, 5], Types.INT())
    one.union(two, three).print("three")
    one.union(one).print("itself")
    one.map(lambda n: n * 10, Types.INT()).union(two.filter(lambda n: n > 0)).print("mapped")
    one.union(two).union(three).key_by(lambda n: 0).reduce(lambda a, b: a + b).map(
        lambda n: n > 0
    ).print("keyed")
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(
        Duration.of_millis(0)
    ).with_timestamp_assigner(ByThird())
    left = env.from_collection(
        [("a", 1, 0), ("a", 2, 9000)], triple
    ).assign_timestamps_and_watermarks(strategy)
    right = env.from_collection(
        [("a", 3, 1), ("b", 4, 8000)], triple
    ).assign_timestamps_and_watermarks(strategy)
    windows = (
        left.union(right)
        .key_by(lambda e: e[0])
        .window(TumblingEventTimeWindows.of(Time.seconds(1)))
    )
    windows.process(Span()).print("windows")
    env.execute()


if __name__ == "__main__":
    main()

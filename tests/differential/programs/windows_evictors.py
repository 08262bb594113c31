"""Evictors on count and global windows beside the same written out: PyFlink has none."""

# runs: whole 1
# order: key
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment, WindowedStream, WindowFunction
from pyflink.datastream.window import CountTrigger, GlobalWindows, TumblingEventTimeWindows

try:
    from pyflink.datastream.window import CountEvictor, TimeEvictor
except ImportError:
    CountEvictor = TimeEvictor = None

EVENTS = [("a", i, i * 300) for i in range(1, 9)] + [("b", i, i * 700) for i in range(1, 8)]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Numbers(WindowFunction):
    def __init__(self, kept=lambda elements: elements):
        self.kept = kept

    def apply(self, key, window, inputs):
        yield key, [each[1] for each in self.kept(list(inputs))]


def last(number):
    return lambda elements: elements[-number:]


def newest(span):
    def kept(elements):
        newest = max(each[2] for each in elements)
        return [each for each in elements if each[2] > newest - span]

    return kept


def main():
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    env = StreamExecutionEnvironment.get_execution_environment()
    keyed = (
        env.from_collection(EVENTS, triple)
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByThird())
        )
        .key_by(lambda e: e[0])
    )
    counted = keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(2))
    timed = keyed.window(TumblingEventTimeWindows.of(Time.seconds(2)))
    if hasattr(WindowedStream, "evictor"):
        counted.evictor(CountEvictor.of(3)).apply(Numbers()).print("three of every two")
        counted.evictor(TimeEvictor.of(Time.milliseconds(900))).apply(Numbers()).print("newest")
        timed.evictor(CountEvictor.of(2)).apply(Numbers()).print("two of a window")
    else:
        counted.apply(Numbers(last(3))).print("three of every two")
        counted.apply(Numbers(newest(900))).print("newest")
        timed.apply(Numbers(last(2))).print("two of a window")
    keyed.count_window(3, 2).apply(Numbers()).print("sliding")
    env.execute()


if __name__ == "__main__":
    main()

"""Sessions that grow, aggregated and reduced."""

# runs: each 1, whole 1
# order: key
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows

EVENTS = [("a", n, n * n * 300) for n in range(12)] + [("b", 1, 40000), ("b", 2, 41000)]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Numbers(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        return [*accumulator, value[1]]

    def get_result(self, accumulator):
        return sorted(accumulator)

    def merge(self, a, b):
        return a + b


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
    keyed.window(fixed).aggregate(Numbers(), Span()).print("aggregate")
    keyed.window(fixed).reduce(lambda x, y: (x[0], x[1] + y[1], 0), Span()).print("reduce")
    env.execute()


if __name__ == "__main__":
    main()
